"""whet record: every action of an agent, for real, several times."""

import shlex
import sys
from pathlib import Path

import click

from whet.agents.catalogue import agent_named
from whet.bootstrap.assembly import FALLBACK_MEMORY_MB
from whet.bootstrap.site import open_site
from whet.cli.output import say
from whet.core.errors import WhetError
from whet.core.ports import Store
from whet.core.text import printable
from whet.improvement.recording import Order
from whet.improvement.recording import record as record_world
from whet.improvement.world import save
from whet.store.sql_store import open_store
from whet.tools.process import default_memory_mb


@click.command()
@click.argument("project", type=click.Path(path_type=Path), default=Path())
@click.option("--agent", default="test-executor", show_default=True, help="Whose actions to record.")
@click.option("--repeats", default=3, show_default=True, help="How often each action runs in each context.")
@click.option("--mutants", default=2, show_default=True, help="Contexts with one real change that some test notices.")
@click.option("--seed", default=1, show_default=True, help="Chooses the mutations.")
@click.option("--python", help="The interpreter that runs the tests; default: the project's own.")
@click.option("--out", type=click.Path(path_type=Path), help="File to write.  [default: .whet/worlds/AGENT.json]")
@click.option("--tuning", is_flag=True, help="Mark the world as used for tuning: it will not count as proof.")
def record(
    project: Path, agent: str, repeats: int, mutants: int, seed: int, python: str | None, out: Path | None, tuning: bool
) -> None:
    """Record a world on PROJECT: run every action of an agent with the real tools and keep what they measured.

    \b
    Works in a copy; the project and what was learned of it stay untouched. Costs about
    (1 + MUTANTS) × REPEATS × actions × the time of the suite.
      whet record --agent flaky-test-hunter
      whet eval .whet/worlds/*.json
    """
    if repeats < 1 or mutants < 0:
        raise WhetError("Repeats must be at least 1 and mutants at least 0.", "See: whet record --help")
    site = open_site(project, python=python)
    order = Order(
        agent=agent_named(agent),
        project=site.project,
        python=site.python,
        repeats=repeats,
        mutants=mutants,
        seed=seed,
        memory_mb=float(site.settings.limits.memory_mb or default_memory_mb() or FALLBACK_MEMORY_MB),
        command=shlex.join(["whet", *sys.argv[1:]]),
    )
    world = record_world(order, _open, lambda text: click.echo(printable(text), err=True))
    path = out or site.state_dir / "worlds" / f"{agent}.json"
    save(world.model_copy(update={"used_for_tuning": tuning}), path)
    say(f"Recorded {len(world.contexts)} context(s) of {world.name} in {path}. Try policies on it: whet eval {path}")


def _open(state_dir: Path) -> Store:
    return open_store(f"sqlite:///{(state_dir / 'whet.db').resolve()}")
