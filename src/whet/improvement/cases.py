"""Test cases from records in the form of Qase, and whether anybody ever ran them.

cases = read_cases(Path("cases.json"))
label(cases)                      # how many have an outcome, how many could be executed
training, held_out = split(cases, held_out=1 / 3, seed=7)
"""

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from whet.core.errors import RefusedInput, WhetError
from whet.core.text import printable
from whet.improvement.cases_steps import Step, headers_of, steps_of, words_of
from whet.tools.results import qase, strict_json
from whet.tools.results.documents import Document, head
from whet.tools.results.finding import found
from whet.tools.results.qase_records import Record
from whet.tools.results.refusing import BadResults

# Skipped and blocked cases were not run: nobody knows what would have come back.
_OUTCOMES = ("p", "f", "e")
_FAILED = ("f", "e")
_CAUSES = ("stacktrace", "comment", "message")


@dataclass(frozen=True)
class Case:
    name: str
    steps: tuple[Step, ...]  # none: it says nothing that could be sent
    headers: dict[str, str]
    preconditions: str
    words: str  # of its steps
    outcome: str | None  # p, f, e; None: nobody ran it, or nobody wrote down what came of it
    cause: str = ""  # that was written down with a failure

    @property
    def failure(self) -> str | None:
        """As it was written down; one without a message is a cause of its own. None: no failure was."""
        return (self.cause or self.name) if self.outcome in _FAILED else None

    @property
    def key(self) -> str:
        """Of what it does; a copy under another name is the same case."""
        told = [sorted(self.headers.items()), self.steps, "" if self.steps else self.words or self.name]
        return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


class Labels(NamedTuple):
    cases: int
    with_outcome: int
    without_outcome: int
    executable: int

    def __str__(self) -> str:
        return (
            f"{self.cases} cases: {self.with_outcome} with an outcome, {self.without_outcome} without; "
            f"{self.executable} can be executed"
        )


def read_cases(path: Path) -> list[Case]:
    """Each once, in the order of the file; what is no such file is refused."""
    cases = _read(path)
    if not cases:
        raise RefusedInput(f"{path} has no test cases.", "Give records with test_name, steps and preconditions.")
    return list({case.key: case for case in reversed(cases)}.values())[::-1]


def is_case_file(path: Path) -> bool:
    """Whether it holds records in the form of Qase. A broken file is refused: nobody can tell what it was to be."""
    return path.is_file() and bool(_read(path))


def label(cases: Sequence[Case]) -> Labels:
    known = sum(case.outcome is not None for case in cases)
    return Labels(len(cases), known, len(cases) - known, sum(bool(case.steps) for case in cases))


def require_outcomes(cases: Sequence[Case]) -> None:
    """A reward for a case that nobody ran would be invented, and a constant teaches nothing (docs/cases.md)."""
    told = label(cases)
    if told.without_outcome:
        raise WhetError(
            f"There is nothing to learn from in {told.without_outcome} of {told.cases} cases: they say what to do and "
            "what should come back, but not what came back, so that any reward for them would be invented.",
            _remedy(told),
        )


def require_differences(cases: Sequence[Case]) -> None:
    """Where every choice pays the same, whatever a training reports of itself is chance (docs/cases.md)."""
    if alike := _alike(Counter(case.failure for case in cases)):
        told = label(cases)
        live = f", or execute them live, which {told.executable} of them can: --service URL" if told.executable else "."
        raise WhetError(
            f"There is nothing to learn from the outcomes of the {told.cases} cases to train on: {alike}, so that no "
            "choice among them is better than another.",
            f"Give the results of a run in which some passed and some failed{live}",
        )


def require_executable(cases: Sequence[Case]) -> list[Case]:
    ready = [case for case in cases if case.steps]
    if not ready:
        raise WhetError(
            "None of the cases can be executed: their steps name no request and expected status.",
            'Write steps like: POST /orders {"quantity": 0} -> 400',
        )
    return ready


def split(cases: Sequence[Case], held_out: float, seed: int = 0) -> tuple[list[Case], list[Case]]:
    """By what each case does, so that a copy of a case never lies on the other side."""
    sides: tuple[list[Case], list[Case]] = ([], [])
    for case in cases:
        digest = hashlib.sha256(f"{seed} {case.key}".encode()).digest()
        sides[int.from_bytes(digest[:8], "big") / 2**64 < held_out].append(case)
    return sides


def _alike(failures: Counter[str | None]) -> str:
    """Why each of them pays as much as any other; empty: they do not."""
    if len(failures) == 1:
        return "all passed" if None in failures else "all failed with the same cause"
    return "each failed with a cause of its own" if None not in failures and set(failures.values()) == {1} else ""


def _remedy(told: Labels) -> str:
    if not told.executable:
        return "Export the results of a run with them (status: passed or failed)."
    return f"Execute them live against a service, which {told.executable} of them can: --service URL"


def _read(path: Path) -> list[Case]:
    try:
        with found([str(path)], _raise) as documents:
            return [case for document in documents for case in _cases(document)]
    except BadResults as broken:
        raise RefusedInput(broken.problem, "Write or export it anew, and give it again.") from broken


def _cases(document: Document) -> list[Case]:
    data = qase.rows(document) if qase.claims_csv(head(document)) else strict_json.load(document)
    return [_case(Record(document, fields, suites, run), fields) for fields, suites, run in qase.records(data)]


def _case(record: Record, fields: dict[str, Any]) -> Case:
    steps, said = fields.get("steps", fields.get("steps_actions")), fields.get("preconditions")
    preconditions = said if isinstance(said, str) else words_of(said)
    causes = (fields.get(name) for name in _CAUSES)
    cause = next(
        (printable(each.strip().splitlines()[-1], 200) for each in causes if isinstance(each, str) and each.strip()), ""
    )
    return Case(
        name=record.test.name, steps=steps_of(steps), headers=headers_of(preconditions), preconditions=preconditions,
        words=words_of(steps), outcome=record.outcome if record.outcome in _OUTCOMES else None, cause=cause,
    )  # fmt: skip


def _raise(trouble: BadResults) -> None:
    raise trouble
