"""whet train: a deep policy, from recorded worlds or from what this project's visits measured."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from whet.bootstrap.site import make_state_dir, open_site
from whet.cli.options import format_option, project_option
from whet.cli.output import dump, say
from whet.core.text import printable
from whet.policies.deep.extra import TRAINING, require

if TYPE_CHECKING:  # it imports Gymnasium, which only training needs
    from whet.bootstrap.training import Ready

Policy = Literal["dqn", "ppo"]


@click.command()
@click.option("--agent", metavar="NAME", help="Whose policy to train; not needed for a file of test cases.")
@click.option(
    "--from",
    "source",
    default="world",
    show_default=True,
    metavar="world|history|FILE",
    help="Recorded worlds, what this project's visits measured, a file made by whet record, or one of test cases.",
)
@click.option(
    "--service", metavar="URL", help="Where test cases are executed; their outcomes are what is learned from."
)
@click.option("--policy", type=click.Choice(["dqn", "ppo"]), help="How it learns.  [default: dqn; test cases: ppo]")
@click.option("--steps", type=click.IntRange(8, 10**8), default=8000, show_default=True, help="How many decisions.")
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), help="Equal seeds give equal weights.  [default: settings]")
@click.option("--resume", is_flag=True, help="Go on where a training of the same kind stopped, or was stopped.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder to write.  [default: .whet/models/AGENT/POLICY]")
@project_option()
@format_option()
def train(
    agent: str | None,
    source: str,
    service: str | None,
    policy: Policy | None,
    steps: int,
    seed: int | None,
    resume: bool,
    out: Path | None,
    project: Path,
    form: str,
) -> None:
    """Train a deep policy for an agent; a line in [tool.whet.policies] puts it to use.

    \b
    Worlds that count as proof (whet eval, whet bench) are not trained on. Everything is saved
    every 2,000 steps: whatever ends the process, --resume goes on from there to the same weights.
      whet train --agent test-executor
      whet train --agent test-executor --from history --policy ppo --steps 20000
      whet train --from cases.json --service http://127.0.0.1:8000
      tensorboard --logdir .whet/models
    """
    require("Training", TRAINING)
    from whet.bootstrap.training import Asked, prepared

    site = open_site(project, seed=seed)
    asked = Asked(agent, source, service, policy, steps, None if out is None else out.absolute())
    with prepared(site, asked) as ready:
        make_state_dir(site.state_dir)
        told = _train(ready, resume, quiet=form == "json")
    if form == "json":
        dump(told)
    else:
        _tell(told, put_to_use=out is None and agent is not None)


def _train(ready: "Ready", resume: bool, quiet: bool) -> dict[str, Any]:
    from whet.improvement.training import train as training
    from whet.improvement.training_record import CURVES
    from whet.reports.training_curves import render_training

    order, folder = ready.order, ready.folder
    with _bar(f"{order.agent} {order.policy}", order.steps, quiet) as advance:
        for progress in training(ready.subject, order, folder, resume=resume):
            advance(progress.steps, progress.row.get("episode_reward"))
    rows, picture = folder.rows(), folder.path / CURVES
    about = f"{order.policy}, seed {order.seed}, trained on {', '.join(order.sources)}."
    picture.write_text(render_training(f"Training {order.agent}", about, rows), encoding="utf-8")
    last = {name: value for name, value in rows[-1].items() if name != "step"}
    return {
        "schema_version": 1, "agent": order.agent, "policy": order.policy, "seed": order.seed,
        "steps": int(rows[-1]["step"]), "trained_on": list(order.sources), "digest": order.digest,
        "folder": str(folder.path), "curves": str(picture), "measures": last,
    }  # fmt: skip


@contextmanager
def _bar(what: str, steps: int, quiet: bool) -> Iterator[Callable[[int, float | None], None]]:
    """Live on a terminal; silent elsewhere, where every line would stay."""
    console = Console(stderr=True, highlight=False)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    bar = Bar(*columns, console=console, transient=True, disable=quiet or not console.is_terminal)
    task = bar.add_task(what, total=steps)

    def advance(done: int, reward: float | None) -> None:
        bar.update(task, completed=done, description=what if reward is None else f"{what}, reward {reward:+.2f}")

    with bar:
        yield advance


def _tell(told: dict[str, Any], put_to_use: bool) -> None:
    agent, policy, reward = told["agent"], told["policy"], told["measures"].get("episode_reward")
    earned = "" if reward is None else f"; the last episodes earned {reward:+.2f} on average, exploring included"
    say(
        f"Trained {policy} for {agent} in {told['steps']:,} steps (seed {told['seed']}) on "
        f"{printable(', '.join(told['trained_on']), 400)}{earned}."
    )
    say(f"Curves: {told['curves']}\nTensorBoard: tensorboard --logdir {told['folder']}")
    if put_to_use:
        say(f'Use it, in pyproject.toml:\n[tool.whet.policies]\n{agent} = "{policy}"')
