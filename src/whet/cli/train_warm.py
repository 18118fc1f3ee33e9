"""whet train --policy warm-start: what other projects taught, as a new project's agents begin with it."""

from pathlib import Path

from whet.bootstrap.site import Site
from whet.bootstrap.warm_start import Begun, warm_starts
from whet.cli.output import dump, say
from whet.core.errors import WhetError
from whet.core.text import printable
from whet.policies.warm_start import NAME


def refuse_beside_warm_start(
    agent: str | None,
    service: str | None,
    steps: int | None,
    curriculum: bool | None,
    keep: bool,
    memories: int,
    share: bool,
    resume: bool,
) -> None:
    """It is worked out at once from the worlds: there are no steps to count, to order or to go on with."""
    if agent is None:
        raise WhetError("Whose warm start is it to be?", "Name an agent, or all: --agent all")
    given = {"--service": service, "--steps": steps, "--curriculum": curriculum, "--keep": keep, "--share": share}
    given |= {"--memories": memories, "--resume": resume}
    if told := [name for name, value in given.items() if value]:
        raise WhetError(f"A warm start is worked out at once from worlds, without {', '.join(told)}.", "Leave it out.")


def tell_warm_starts(site: Site, agent: str, source: str, out: Path | None, form: str) -> None:
    found = warm_starts(site, agent, source, out)
    if form == "json":
        dump({"schema_version": 1, "agents": [_record(each) for each in found]})
        return
    for each in found:
        say(_line(each))
    if out is None and (made := [each.agent for each in found if each.prior is not None]):
        lines = "\n".join(f'{name} = "{NAME}"' for name in made)
        say(f"Use it, in pyproject.toml:\n[tool.whet.policies]\n{lines}")


def _record(begun: Begun) -> dict[str, object]:
    prior = None if begun.prior is None else begun.prior.model_dump(mode="json")
    return {"agent": begun.agent, "path": None if begun.path is None else str(begun.path), "prior": prior,
            "says": begun.told}  # fmt: skip


def _line(begun: Begun) -> str:
    if begun.prior is None:
        return printable(f"{begun.agent} begins cold. {begun.told}", 400)
    best = max(begun.prior.actions, key=lambda name: begun.prior.actions[name].mean if begun.prior else 0.0)
    return printable(f"{begun.agent} begins with what {begun.told} taught: {best} paid most.", 400)
