"""`whet api` and its peers on real services, counted by a neutral proxy: python benchmarks/api.py --yardstick DIR

Needs the yardstick (`api_bench.py` and `score_proxy.py`) and an interpreter with aiohttp, pyyaml, jsonschema-rs and
schemathesis (`--python`). The services are installed from the package registry by the yardstick. A tool gets the same
number of requests; what a tool says of itself is not consulted. `--services jupyter phoenix zenml` are services that
Whet was not made with (`api_services.py`). `whet again` is a second run that knows the first;
`whet anew` one whose first was killed, and which may know nothing.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # started as a script, only its folder is on the path

from benchmarks.api_services import MORE

from whet.tools.process import Limits, run

SERVICES = ("kinto", "chroma", "prefect")
PEERS = ("schemathesis-run", "schemathesis-fuzz", "schemathesis-positive")
MEASURES = ("ops_2xx", "unique_faults", "op_status_pairs", "unique_tracebacks")
Result = dict[str, Any]
_LONGEST_SECONDS = 3_600  # the first time the services are installed


def main() -> None:
    asked = _asked()
    results = [
        {"service": service, "tool": tool, "seed": seed, **result}
        for service in asked.services
        for seed in range(1, asked.seeds + 1)
        for tool, result in _rounds(asked, service, seed)
    ]
    _print(results)
    if asked.json:
        asked.json.write_text(json.dumps({"requests": asked.requests, "results": results}, indent=2))


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask_for_yardstick(parser)
    parser.add_argument("--services", nargs="*", default=SERVICES, choices=(*SERVICES, *MORE))
    parser.add_argument("--peers", nargs="*", default=PEERS, choices=PEERS)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--requests", type=int, default=2_000)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    check_yardstick(parser, asked)
    return asked


def ask_for_yardstick(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--yardstick", type=Path, default=Path("../shared/yardsticks"))
    parser.add_argument("--python", default=sys.executable, help="the interpreter that runs yardstick and peers")
    parser.add_argument("--home", type=Path, default=Path("build/api_services"), help="where services are installed")
    parser.add_argument("--seconds", type=int, default=900, help="a run is ended after this long")


def check_yardstick(parser: argparse.ArgumentParser, asked: argparse.Namespace) -> None:
    if not (asked.yardstick / "api_bench.py").exists():
        parser.error(f"{asked.yardstick} has no api_bench.py; say where it is with --yardstick")


def _rounds(asked: argparse.Namespace, service: str, seed: int) -> list[tuple[str, Result]]:
    with tempfile.TemporaryDirectory() as project:
        whet = [str(Path(sys.executable).parent / "whet"), "api", "{spec}", "--url", "{url}", "--seed", "{seed}",
                "--requests", str(asked.requests), "-C", project]  # fmt: skip
        found = [("whet", scored(asked, service, seed, [], ["--", *whet]))]
        again = "whet again" if found[0][1]["tool_rc"] >= 0 else "whet anew"  # killed, it may have kept nothing
        found.append((again, scored(asked, service, seed, [], ["--", *whet])))
    found += [(peer, scored(asked, service, seed, ["--peer", peer], [])) for peer in asked.peers]
    for tool, result in found:
        print(f"{service:8} {seed} {tool:22}", {name: result[name] for name in MEASURES}, flush=True)
    return found


def scored(asked: argparse.Namespace, service: str, seed: int, options: list[str], tool: list[str]) -> Result:
    """One run of a peer (by `options`) or of a `tool` on a fresh service, as the proxy counted it."""
    path = f"{Path(asked.python).parent}{os.pathsep}{os.environ['PATH']}"
    with tempfile.TemporaryDirectory() as told:
        details, home = Path(told, "details.json"), asked.home.resolve()  # services start in folders of their own
        yardstick = asked.yardstick.resolve()
        more = [str(Path(__file__).with_name("api_services.py")), str(yardstick)]
        bench = more if service in MORE else [str(yardstick / "api_bench.py")]
        command = [asked.python, *bench, "--seed", str(seed), "--home", str(home),
                   "--budget", str(asked.requests), "--max-seconds", str(asked.seconds), "--details", str(details),
                   *options, service, *tool]  # fmt: skip
        result = measured(command, {**os.environ, "PATH": path})
        result["reached_at"] = json.loads(details.read_text())["ops_2xx_at"]
    return result


def measured(command: list[str], env: dict[str, str]) -> Result:
    """What the yardstick says in its last line. Whatever ends us, a signal included, ends its service too: that has a
    session of its own, and the yardstick does not stop it when it is told to end."""
    done = run(command, cwd=Path.cwd(), env=env, limits=Limits(timeout_seconds=_LONGEST_SECONDS))
    told = [line for line in done.output.splitlines() if line.startswith("{")]
    if not told:
        sys.exit(f"{' '.join(command)} gave no result:\n{done.output[-1500:]}")
    result: Result = json.loads(told[-1])
    return result


def _print(results: list[Result]) -> None:
    """Medians over seeds, and for the second run how soon it had what the first reached in all."""
    print(f"\n{'service':8} {'tool':22}" + "".join(f"{name:>18}" for name in MEASURES))
    for service, tool in dict.fromkeys((one["service"], one["tool"]) for one in results):
        rows = [one for one in results if (one["service"], one["tool"]) == (service, tool)]
        medians = [statistics.median(row[name] or 0 for row in rows) for name in MEASURES]
        print(f"{service:8} {tool:22}" + "".join(f"{median:>18g}" for median in medians))
    for one in results:
        if one["tool"] == "whet again":
            print(f"{one['service']} seed {one['seed']}: {_sooner(one, _same(results, one))}")


def _same(results: list[Result], again: Result) -> Result:
    wanted = (again["service"], again["seed"], "whet")
    return next(one for one in results if (one["service"], one["seed"], one["tool"]) == wanted)


def _sooner(again: Result, first: Result) -> str:
    reached: dict[str, int] = first["reached_at"]
    met = [again["reached_at"][name] for name in reached if name in again["reached_at"]]
    return (
        f"the first had its {len(reached)} operations by request {max(reached.values(), default=0)}, "
        f"the second {len(met)} of them by {max(met, default=0)}"
    )


if __name__ == "__main__":
    main()
