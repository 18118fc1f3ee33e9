"""whet train: a policy, from recorded worlds or from what this project's visits measured."""

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
from whet.cli.train_warm import refuse_beside_warm_start, tell_warm_starts
from whet.core.text import printable
from whet.policies.deep.extra import TRAINING, require

if TYPE_CHECKING:  # it imports Gymnasium, which only training needs
    from whet.bootstrap.training import Ready
    from whet.improvement.cases_evaluation import HeldOut
    from whet.improvement.training_record import Order, TrainingFolder

Policy = Literal["dqn", "ppo", "warm-start"]


@click.command()
@click.option("--agent", metavar="NAME|all", help="Whose policy to train; not needed for a file of test cases.")
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
@click.option(
    "--policy",
    type=click.Choice(["dqn", "ppo", "warm-start"]),
    help="How it learns. warm-start: tables that begin with what other projects taught; done at once, needs no extra."
    "  [default: dqn; test cases: ppo]",
)
@click.option("--steps", type=click.IntRange(8, 10**8), help="How many decisions.  [default: settings, 8000]")
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), help="Equal seeds give equal weights.  [default: settings]")
@click.option(
    "--curriculum/--no-curriculum",
    default=None,
    help="Practise the world where most is being learned, so that easy ones come first.  [default: settings, no]",
)
@click.option(
    "--keep",
    is_flag=True,
    help="Begin with the policy trained before, and hold on to what it knows (EWC) while learning this.",
)
@click.option(
    "--memories",
    type=click.IntRange(0, 16),
    default=0,
    show_default=True,
    help="How many recalled experiences the network can attend to beside the state (DQN).",
)
@click.option("--share", is_flag=True, help="With --agent all: agents of a category learn from each other's steps.")
@click.option("--resume", is_flag=True, help="Go on where a training of the same kind stopped, or was stopped.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder to write.  [default: .whet/models/AGENT/POLICY]")
@project_option()
@format_option()
def train(
    agent: str | None,
    source: str,
    service: str | None,
    policy: Policy | None,
    steps: int | None,
    seed: int | None,
    curriculum: bool | None,
    keep: bool,
    memories: int,
    share: bool,
    resume: bool,
    out: Path | None,
    project: Path,
    form: str,
) -> None:
    """Train a policy for an agent; a line in [tool.whet.policies] puts it to use.

    \b
    Worlds that count as proof (whet eval, whet bench) are not trained on. Everything is saved
    every 2,000 steps: whatever ends the process, --resume goes on from there to the same weights.
      whet train --agent all --policy warm-start       a new project's first minute
      whet train --agent test-executor                 a network, from recorded worlds
      whet train --agent test-executor --from history --keep
                                                       then this project, without forgetting those
      whet train --agent all --curriculum              side by side, easy worlds first
      whet train --from cases.json --service http://127.0.0.1:8000
      tensorboard --logdir .whet/models
    """
    site = open_site(project, seed=seed)
    out = None if out is None else out.absolute()
    if policy == "warm-start":
        refuse_beside_warm_start(agent, service, steps, curriculum, keep, memories, share, resume)
        tell_warm_starts(site, str(agent), source, out, form)
        return
    require("Training", TRAINING)
    from whet.bootstrap.training import Asked, prepared

    training = site.settings.training
    chosen = training.curriculum if curriculum is None and source == "world" else bool(curriculum)
    asked = Asked(agent, source, service, policy, steps or training.steps, out, chosen, keep, share, memories)
    with prepared(site, asked) as ready:
        make_state_dir(site.state_dir)
        for line in ready.said if form == "text" else ():
            say(printable(line, 400))
        told = _train(ready, resume, quiet=form == "json")
        held_out = ready.judge()
    if held_out is not None:
        told[0]["held_out"] = held_out._asdict()
    if form == "json":
        dump(told[0] if agent != "all" else {"schema_version": 1, "said": list(ready.said), "agents": told})
    else:
        for each in told:
            _tell(each, put_to_use=out is None and agent is not None)
        if held_out is not None:
            _tell_held_out(held_out, put_to_use=out is None)


def _train(ready: "Ready", resume: bool, quiet: bool) -> list[dict[str, Any]]:
    from whet.improvement.training import train_all

    orders = [trainee.order for trainee in ready.trainees]
    what = f"{orders[0].agent if len(orders) == 1 else f'{len(orders)} agents'} {orders[0].policy}"
    with _bar(what, orders[0].steps, quiet) as advance:
        for progress in train_all(ready.trainees, resume=resume):
            advance(progress.steps, progress.row.get("episode_reward") if len(orders) == 1 else None)
    return [_made(trainee.order, trainee.folder) for trainee in ready.trainees]


def _made(order: "Order", folder: "TrainingFolder") -> dict[str, Any]:
    """What was trained, with its picture."""
    from whet.improvement.training_record import CURVES
    from whet.reports.training_curves import render_training

    rows, picture = folder.rows(), folder.path / CURVES
    about = f"{order.policy}, seed {order.seed}, trained on {', '.join(order.sources)}."
    picture.write_text(render_training(f"Training {order.agent}", about, rows), encoding="utf-8")
    # The last word on each: PPO tells of its losses when a rollout is full, and the last one seldom is.
    known = {name: value for row in rows for name, value in row.items() if name != "step"}
    return {
        "schema_version": 1, "agent": order.agent, "policy": order.policy, "seed": order.seed,
        "steps": int(rows[-1]["step"]), "trained_on": list(order.sources), "digest": order.digest,
        "folder": str(folder.path), "curves": str(picture), "measures": known,
        "practised": folder.practised(),
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
    if told["practised"]:
        often = ", ".join(f"{name} {times}" for name, times in told["practised"].items())
        say(f"Visits chosen by learning progress: {printable(often, 400)}.")
    say(f"Curves: {told['curves']}\nTensorBoard: tensorboard --logdir {told['folder']}")
    if put_to_use:
        say(f'Use it, in pyproject.toml:\n[tool.whet.policies]\n{agent} = "{policy}"')


def _tell_held_out(told: "HeldOut", put_to_use: bool) -> None:
    say(
        f"Judged on {told.cases} held-out cases with {told.requests:,} requests: {told.policy:.3f} failures of a new "
        f"cause a request; at random {told.random:.3f}, in the file's order {told.file_order:.3f}."
    )
    say(_verdict(told))
    if put_to_use and told.better_than_random:
        say("Use it: whet rank --cases FILE [--service URL]")


def _verdict(told: "HeldOut") -> str:
    if not told.policy + told.random + told.file_order:
        return "Nothing failed: among these cases there was nothing to find, and nothing to judge by."
    sure = "" if (half := told.more_than_random_half_width) is None else f" ± {half:.3f}"
    more = f"{told.more_than_random:+.3f}{sure} (95 %) against random"
    if told.better_than_random:
        return f"It finds more: {more}."
    return f"It is not shown to find more: {more}. Train longer, or with more cases."
