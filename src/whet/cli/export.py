"""whet export: what runs showed, in one file that other stores can merge; or a trained network, as ONNX."""

import os
import sys
from datetime import timedelta
from pathlib import Path
from typing import Literal

import click

from whet.agents.catalogue import agent_named
from whet.bootstrap.assembly import MODELS
from whet.bootstrap.site import Site, open_site
from whet.cli.options import format_option, project_option
from whet.cli.output import dump
from whet.core.errors import WhetError
from whet.core.records import now
from whet.policies.deep.extra import EXPORTING, require
from whet.store.exchange import Exported, Extract, export_history
from whet.store.sheets import SqlSheets


@click.command()
@click.argument("file", required=False, metavar="FILE")
@click.option("--out", "-o", metavar="FILE", help="The file to write; the same as giving it as FILE.")
@click.option("--branch", multiple=True, metavar="NAME", help="Only runs of this branch; may be given several times.")
@click.option("--since", type=click.IntRange(0, 36500), metavar="DAYS", help="Only runs of the last DAYS days.")
@click.option(
    "--with-map/--without-map",
    default=True,
    show_default=True,
    help="The lines each test executes, with the sources.",
)
@click.option(
    "--onnx", metavar="FILE", type=click.Path(path_type=Path), help="Instead, the trained network of --agent."
)
@click.option("--agent", metavar="NAME", help="Whose network; only with --onnx.")
@click.option("--policy", type=click.Choice(["dqn", "ppo"]), help="Which network; only with --onnx.  [default: dqn]")
@project_option()
@format_option()
def export(
    file: str | None,
    out: str | None,
    branch: tuple[str, ...],
    since: int | None,
    with_map: bool,
    onnx: Path | None,
    agent: str | None,
    policy: Literal["dqn", "ppo"] | None,
    project: Path,
    form: str,
) -> None:
    """Write what runs showed to FILE; - writes to standard output.

    \b
    Results, renames, quarantine and the map of the suite; not what was learned from them, which
    every store learns for itself. Equal histories give equal files.
      whet export history.whet
      whet export --branch main --since 90 - | ssh ci "cat > history.whet"
      whet merge history.whet       on the other side
    With --onnx it writes a network that `whet train` made, for any ONNX runtime:
      whet export --onnx executor.onnx --agent test-executor --policy ppo
    """
    if onnx is not None or agent is not None or policy is not None:
        if onnx is None or agent is None or file or out or branch or since is not None:
            raise WhetError(
                "A network and a history do not go into one file.",
                "Give --onnx FILE and --agent NAME together, and nothing else.",
            )
        _export_network(open_site(project), agent, policy or "dqn", onnx, form)
        return
    target = _target(file, out)
    if target == "-" and form == "json":
        raise WhetError("The history itself goes to standard output.", "Name a file, or leave out --format json.")
    if target == "-" and sys.stdout.isatty():
        raise WhetError("A history is no text for a terminal.", "Name a file, or pipe it: whet export - | …")
    site = open_site(project)
    if not site.visited:
        raise WhetError("There is no history to export yet.", "Start with: pytest --whet, or whet ingest")
    extract = Extract(set(branch) or None, None if since is None else now() - timedelta(days=since), with_map)
    with site.store() as store:
        done = _write(store.sheets, target, extract)
    if form == "json":
        dump({"file": target, "runs": done.sheets, "results": done.results})
        return
    runs = "1 run" if done.sheets == 1 else f"{done.sheets:,} runs"
    click.echo(f"Exported {runs} with {done.results:,} results{'' if target == '-' else f' to {target}'}.", err=True)


def _export_network(site: Site, agent: str, policy: Literal["dqn", "ppo"], path: Path, form: str) -> None:
    require("Exporting a network", EXPORTING)
    from whet.policies.deep.export import export_onnx

    folder = site.state_dir / MODELS / agent_named(agent).name / policy / "learner"
    if not folder.exists():
        raise WhetError(
            f"There is no trained {policy.upper()} of {agent} in this project.",
            f"Train one: whet train --agent {agent} --policy {policy}",
        )
    export_onnx(folder, path, policy)
    if form == "json":
        dump({"file": str(path), "agent": agent, "policy": policy})
        return
    told = "values" if policy == "dqn" else "preferences"
    click.echo(
        f"Exported the {policy.upper()} of {agent} to {path}: one row of a state in, the actions' {told} out.", err=True
    )


def _target(file: str | None, out: str | None) -> str:
    if (file is None) == (out is None):
        raise WhetError("Name one file to write to.", "For example: whet export history.whet")
    return file or out or ""


def _write(sheets: SqlSheets, target: str, extract: Extract) -> Exported:
    """The whole file or, when something goes wrong, what was there before."""
    if target == "-":
        return export_history(sheets, sys.stdout.buffer, extract)
    path = Path(target)
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with part.open("wb") as written:
            done = export_history(sheets, written, extract)
            written.flush()
            os.fsync(written.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return done
