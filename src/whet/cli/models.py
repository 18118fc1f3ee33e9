"""whet models: the candidates of this project, where they stand, and why."""

from collections.abc import Sequence
from pathlib import Path

import click

from whet.agents.catalogue import agent_named
from whet.bootstrap.site import open_site
from whet.cli.options import format_option, project_option
from whet.cli.output import dump, require_visit, say, table
from whet.core.candidates import Candidate
from whet.core.errors import WhetError
from whet.core.ports import Store
from whet.core.text import number_of, printable

_PASSED = {True: "yes", False: "no", None: "inconclusive"}


@click.command()
@click.argument("number", type=int, required=False)
@click.option("--agent", metavar="NAME", help="Only this agent's.")
@project_option()
@format_option()
def models(number: int | None, agent: str | None, project: Path, form: str) -> None:
    """Trained policies: versions, stages, traffic and evidence. With NUMBER, everything known of that one."""
    site = open_site(project)
    require_visit(site)
    if agent is not None:
        agent_named(agent)  # a misspelt name is told, not taken for one without candidates
    with site.store() as store:
        shown = store.candidates.all(agent) if number is None else [_one(store, number)]
    if form == "json":
        dump([each.model_dump(mode="json") for each in shown])
    elif not shown:
        say("No policy was trained yet. whet learn trains one when there is enough to learn from.")
    elif number is not None:
        _tell(shown[0])
    else:
        _list(shown)


def _list(candidates: Sequence[Candidate]) -> None:
    """A line for each, and under it what there is to say: in a column of a narrow terminal it would be torn apart."""
    from whet.improvement.rollout.stepping import standing

    say("Candidates, newest first")
    rows = [_row(each) for each in candidates]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for candidate, row in zip(candidates, rows, strict=True):
        say("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
        say(f"    {printable(standing(candidate), 1000) or 'it was just trained'}")


def _row(candidate: Candidate) -> tuple[str, ...]:
    c = candidate
    return f"#{c.number}", c.agent, c.kind, _stage(c), f"{c.share:.0%}", f"since {c.since:%Y-%m-%d %H:%M} UTC"


def _stage(candidate: Candidate) -> str:
    return f"{candidate.stage.value}{', paused' if candidate.paused else ''}"


def _one(store: Store, number: int) -> Candidate:
    found = store.candidates.get(number)
    if found is None:
        raise WhetError(f"There is no candidate {number}.", "whet models lists those there are.")
    return found


def _tell(candidate: Candidate) -> None:
    lineage = candidate.lineage
    parent = "nothing" if lineage.parent is None else f"candidate {lineage.parent}"
    standing = f"{_stage(candidate)}, {candidate.share:.0%} of the runs"
    say(f"candidate {candidate.number} of {candidate.agent} ({candidate.kind}): {standing}")
    say(f"  why       {printable(candidate.why, 1000) or 'it was just trained'}")
    lived = number_of(lineage.experiences, "experience")
    say(f"  trained   with {lived} of batch {lineage.batch}, going on from {parent}")
    say(f"  artefact  {candidate.artefact[:12]}, made by whet {lineage.code_version} with seed {lineage.seed}")
    if lineage.keys_digest is not None and lineage.code_digest is not None:
        say(f"  lineage   experiences {lineage.keys_digest[:12]}, sources of whet {lineage.code_digest[:12]}")
    gates = candidate.evidence.get("gates")
    if gates:
        rows = [(g["name"], _PASSED[g["passed"]], g["measured"], g["needed"], g["why"]) for g in gates]
        table("\nGates", ("gate", "passed", "measured", "needed", "why"), rows)
    look = candidate.evidence.get("look")
    if look:
        say(f"\nLast look  {printable(look['sentence'], 1000)}")
