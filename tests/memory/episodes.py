"""Small episodes for tests of what is counted from them."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from whet.core.memories import Kind, Memory
from whet.memory.remembering_runs import SuiteEpisode, run_memory

BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
PROJECT = "shop"


def when(number: int) -> datetime:
    return BEGAN + timedelta(hours=number)


def run(
    number: int,
    failed: Sequence[str] = (),
    changed: Sequence[str] | None = ("src/a.py",),
    code: str | None = None,
    complete: bool = True,
) -> Memory:
    """One run of its own piece of work."""
    episode = SuiteEpisode(
        run_id=f"run-{number}",
        at=when(number),
        tests=100,
        failed=failed,
        changed=changed,
        base=f"commit-{number}",
        code_version=code or f"code-{number}",
        complete=complete,
    )
    return run_memory(PROJECT, episode)


def turn(
    number: int,
    action: str,
    *,
    agent: str = "test-executor",
    failed: bool = False,
    reward: float = 0.0,
    run_id: str = "",
    situation: str = "suite=small",
    kind: str = "faster",
) -> Memory:
    return Memory(
        project=PROJECT,
        kind=Kind.EPISODIC,
        topic="experience",
        source=f"experience:{number}",
        agent=agent,
        text=f"{agent} chose {action}",
        about={
            "run_id": run_id or f"run-{number}",
            "action": action,
            "failed": failed,
            "reward": reward,
            "situation": situation,
            "kind": kind,
        },
        at=when(number),
    )


def failure(number: int, exception: str, file: str, test: str = "") -> Memory:
    name = test or f"tests/test_{number}.py::test_it"
    return Memory(
        project=PROJECT,
        kind=Kind.EPISODIC,
        topic="failure",
        source=f"failure:{number}",
        text="it failed",
        subjects=(f"exception:{exception}", f"file:{file}", f"file:{name.partition('::')[0]}"),
        about={"test": name},
        at=when(number),
    )
