"""whet review: what the fleet was not sure of, for a person to settle."""

from pathlib import Path

import click

from whet.agents.catalogue import agent_named
from whet.bootstrap.site import open_site
from whet.cli.options import format_option, project_option
from whet.cli.output import dump, require_visit, say, table
from whet.cli.person import user
from whet.core.errors import WhetError
from whet.core.ports import Store
from whet.core.records import Action, Decision, Review
from whet.reports.words import percent


@click.group(invoke_without_command=True)
@project_option()
@format_option()
@click.pass_context
def review(ctx: click.Context, project: Path, form: str) -> None:
    """Decisions the fleet was not confident of. Without a subcommand: list them.

    \b
    Until you decide, the safe default runs. Afterwards your word holds for that state:
      whet review approve 3f2a                       let the proposal run from now on
      whet review override 3f2a run_all_tests        this action instead, from now on
      whet review revoke 3f2a                        let the fleet decide again
    """
    ctx.obj = open_site(project)
    if ctx.invoked_subcommand is not None:
        return
    require_visit(ctx.obj)
    with ctx.obj.store() as store:
        waiting = store.decisions.pending()
    if form == "json":
        dump([d.model_dump(mode="json") for d in waiting])
    elif not waiting:
        say("Nothing waits for review.")
    else:
        rows = [(d.id[:8], d.agent, d.proposed, percent(d.confidence), d.action) for d in waiting]
        table("Waiting for you", ("id", "agent", "proposed", "confidence", "ran instead"), rows)


@review.command()
@click.argument("decision")
@click.pass_context
def approve(ctx: click.Context, decision: str) -> None:
    """Let the proposed action of DECISION run in that state from now on."""
    with ctx.obj.store() as store:
        found = _one(store, decision)
        store.decisions.rule(found.id, Review.APPROVED, found.proposed, user())
    say(f"Approved: {found.agent} will run {found.proposed} in this state.")


@review.command()
@click.argument("decision")
@click.argument("action")
@click.pass_context
def override(ctx: click.Context, decision: str, action: str) -> None:
    """Run ACTION instead in the state of DECISION from now on."""
    with ctx.obj.store() as store:
        found = _one(store, decision)
        chosen = _possible(store, found, action)
        store.decisions.rule(found.id, Review.OVERRIDDEN, chosen.name, user())
    say(f"Overridden: {found.agent} will run {action} in this state.")


@review.command()
@click.argument("decision")
@click.pass_context
def revoke(ctx: click.Context, decision: str) -> None:
    """Take your word for the state of DECISION back."""
    with ctx.obj.store() as store:
        found = _one(store, decision)
        if not store.decisions.revoke(found.agent, found.state_key):
            raise WhetError("There is no standing word for that state.", "List what waits with: whet review")
    say(f"Revoked: {found.agent} decides for itself in this state again.")


def _possible(store: Store, decision: Decision, action: str) -> Action:
    """The action, if it can run in the state of that decision: a word that can never come true is no help."""
    agent = agent_named(decision.agent)
    chosen = agent.action(action)
    state = agent.state_type.model_validate(store.decisions.find(decision.id)[0][1])
    allowed = agent.allowed(state)
    if chosen not in allowed:
        names = ", ".join(a.name for a in allowed)
        raise WhetError(f"{action} cannot run in that state.", f"There, {agent.name} can run: {names}.")
    return chosen


def _one(store: Store, prefix: str) -> Decision:
    found = store.decisions.find(prefix)
    if len(found) != 1:
        raise WhetError(f"{len(found)} decisions begin with {prefix!r}.", "Give the id as `whet review` shows it.")
    return found[0][0]
