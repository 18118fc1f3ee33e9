"""Does learning pay on the shipped worlds? `python benchmarks/evaluation.py [--json OUT] [--docs]`.

Runs `whet eval` as a user would, prints its table, and with --docs writes the table and the learning curves into the
README and docs/learning.md, so that what they say is what was measured.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from whet.cli.evaluate import accuracy, confidence

ROOT = Path(__file__).parents[1]
WHET = Path(sys.executable).with_name("whet")
CHROMIUM = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
            "--disable-background-networking", "--disable-component-update", "--hide-scrollbars")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--docs", action="store_true")
    parser.add_argument("--seeds", type=int, default=10)
    arguments = parser.parse_args()
    page = ROOT / "build" / "curves.html"
    page.parent.mkdir(exist_ok=True)
    told = _evaluate(arguments.seeds, page)
    print(table(told))
    if arguments.json:
        arguments.json.write_text(json.dumps(told, indent=2) + "\n")
    if arguments.docs:
        for document in (ROOT / "README.md", ROOT / "docs" / "learning.md"):
            _put(document, table(told))
        _picture(page, ROOT / "docs" / "images" / "curves.png", len(told["worlds"]))


def _evaluate(seeds: int, page: Path) -> dict[str, Any]:
    command = [str(WHET), "eval", "-C", str(ROOT / "examples" / "shop"), "--seeds", str(seeds)]
    done = subprocess.run([*command, "--html", str(page), "--format", "json"], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr)
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def table(told: dict[str, Any]) -> str:
    """Markdown: one row per world, then the sentence that counts."""
    policies = [p["policy"] for p in told["worlds"][0]["learned"]]
    head = (
        "world",
        "states",
        *policies,
        "random",
        "safe default",
        "best static in hindsight",
        "reward: learned / static / possible",
    )
    lines = [_row(head), _row(["---"] * len(head)), *(_row(_cells(world)) for world in told["worlds"])]
    verdict = "Both targets are met." if told["targets_met"] else "A target is missed: the number stands."
    lines += [
        "",
        f"Share of right decisions after {told['decisions']:,} decisions, {told['seeds']} seeds, ± 95 %. Held-out "
        f"worlds (all but those marked *tuning*): **{told['decision_accuracy']:.1%}** right with the default policy "
        f"({told['policy']}; target 85 %), {told['success_gain_over_untrained']:+.0%} against the same policy "
        f"untrained (target +30 %); random {told['random_accuracy']:.1%}, the safe default "
        f"{told['safe_default_accuracy']:.1%}, best static action in hindsight "
        f"{told['best_static_accuracy']:.1%}. {confidence(told)}. {verdict}",
    ]
    return "\n".join(lines)


def _cells(world: dict[str, Any]) -> list[str]:
    learned, static = world["learned"], world["best_static"]
    rewards = (learned[0]["mean_reward"], static["mean_reward"], world["best_possible_reward"])
    return [
        world["world"] + (" *tuning*" if world["used_for_tuning"] else ""),
        str(world["states"]),
        *(accuracy(p) for p in learned),
        f"{world['random']['accuracy']:.0%}",
        f"{world['safe_default']['accuracy']:.0%}",
        f"{static['accuracy']:.0%} ({static['policy'].removeprefix('always ')})",
        " / ".join(f"{reward:+.1f}" for reward in rewards),
    ]


def _row(cells: Any) -> str:
    return "| " + " | ".join(cells) + " |"


def _put(document: Path, text: str) -> None:
    marked = re.compile(r"<!-- eval -->.*?<!-- /eval -->", re.DOTALL)
    new = f"<!-- eval -->\n{text}\n<!-- /eval -->"
    document.write_text(marked.sub(lambda _: new, document.read_text()))


def _picture(page: Path, picture: Path, worlds: int) -> None:
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        print("no chromium here: the picture was not renewed", file=sys.stderr)
        return
    height = 220 + 290 * ((worlds + 1) // 2)
    command = [chromium, *CHROMIUM, f"--screenshot={picture}", f"--window-size=960,{height}", page.as_uri()]
    subprocess.run(command, check=True, capture_output=True, timeout=60)


if __name__ == "__main__":
    main()
