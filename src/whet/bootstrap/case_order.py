"""What `whet rank --cases` tells: the cases of a file in the order that was learned for them."""

from itertools import islice
from pathlib import Path
from typing import NamedTuple

from whet.bootstrap.assembly import MODELS
from whet.bootstrap.site import Site
from whet.bootstrap.training import CASES
from whet.core.errors import WhetError
from whet.improvement.cases import Case, read_cases, require_executable
from whet.improvement.cases_learner import CandidatePPO
from whet.improvement.cases_order import beforehand, one_by_one, requests_of
from whet.improvement.cases_running import Live
from whet.improvement.training_record import TrainingFolder


class Placed(NamedTuple):
    place: int
    case: str
    outcome: str  # not run, passed, failed
    cause: str | None


def placed(site: Site, file: Path, service: str | None, limit: int | None) -> list[Placed]:
    """With a service the cases are executed, and each choice is made with the outcomes before it."""
    cases, learner = read_cases(file), _learner(site)
    if service is None:
        order = beforehand(learner, cases)[:limit]
        return [Placed(place, case.name, "not run", None) for place, case in enumerate(order, start=1)]
    with Live(service) as live:
        return _executed(learner, require_executable(cases), live, limit)


def _executed(learner: CandidatePPO, cases: list[Case], live: Live, limit: int | None) -> list[Placed]:
    chosen = enumerate(islice(one_by_one(learner, cases, live, requests_of(cases)), limit), start=1)
    return [
        Placed(place, case.name, "passed" if verdict.cause is None else "failed", verdict.cause)
        for place, (case, verdict) in chosen
    ]


def _learner(site: Site) -> CandidatePPO:
    folder = TrainingFolder(site.state_dir / MODELS / CASES / "ppo").learner
    if not folder.exists():
        raise WhetError(
            "Which test case comes first was not learned in this project yet.",
            "Train it: whet train --from cases.json --service URL",
        )
    return CandidatePPO.open(folder)
