"""What agents ask of the project's service, and what they get back; who starts it and sends requests is behind that."""

from collections.abc import Callable
from typing import Annotated, Final, Literal, Protocol

from pydantic import Field

from whet.core.errors import WhetError
from whet.core.records import Count, Finding, Probability, Record, Seconds


class ServiceStanding(Record):
    """What is known of a service before anything is sent to it."""

    operations: Count
    reached_before: Count = Field(description="operations that gave a 2xx in earlier runs")
    known_faults: Count
    changed_operations: Count = Field(description="whose contract is another than in the last run")
    breaking_changes: Count
    runs: Count
    has_examples: bool = Field(description="whether the contract gives examples or lists of values")
    accepted: dict[str, Probability] = Field(description="share of values that were accepted, by where they came from")


class ServicePlan(Record):
    """How a service is to be tested. `retest_only` looks at known faults again and does nothing else."""

    requests: Annotated[int, Field(ge=1)]
    seconds: Annotated[float, Field(gt=0)]
    retest_only: bool = False
    mutate: Literal["all", "changed", "none"] = Field("all", description="the operations that get broken requests too")
    lean_on: str | None = Field(None, description="the source of values that is preferred; None: as was learned")


class ServiceRun(Record):
    """What was measured."""

    requests: Count
    seconds: Seconds
    operations: Count
    reached: Count
    reached_new: Count = Field(description="operations that gave a 2xx for the first time in any run")
    valid: Count = Field(description="requests that kept the contract, while exploring")
    accepted: Count = Field(description="those of them that got a 2xx")
    behaviours: Count = Field(description="exchanges that showed a new status, form of answer or error")
    faults: dict[str, Count] = Field(description="those that are there, by kind")
    faults_new: dict[Literal["critical", "high", "medium", "low"], Count]
    still_there: Count
    fixed: Count
    restarts: Count
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()


class NotServed(WhetError):
    """The service does not start, or something else is in its place."""


Heard = Callable[[int, int, int], None]


class ServiceUnderTest(Protocol):
    """Started for as long as it is needed, and ended before a method returns."""

    @property
    def requests(self) -> int:
        """The most that one action may send."""

    def obstacle(self) -> str | None:
        """What is missing in the settings, as a sentence; None when nothing is."""

    def standing(self) -> ServiceStanding:
        """Looked at once in a run of the fleet, then kept up with what is learned. NotServed when it does not start."""

    def test(self, plan: ServicePlan, hear: Heard) -> ServiceRun:
        """`hear` is told requests sent, the most there will be, and causes suspected."""


_NO_SERVICE: Final = (
    "There is no service to test: name its OpenAPI document and what starts it in [tool.whet.api] "
    "(`document` and `start`, see docs/configuration.md)."
)


class NoService:
    """A project that has none."""

    requests = 0

    def obstacle(self) -> str | None:
        return _NO_SERVICE

    def standing(self) -> ServiceStanding:
        raise WhetError(_NO_SERVICE)

    def test(self, plan: ServicePlan, hear: Heard) -> ServiceRun:
        raise WhetError(_NO_SERVICE)


def looked_at(service: ServiceUnderTest) -> ServiceStanding | None:
    """None when it cannot be looked at; why, is told by a test of it, which meets the same trouble."""
    try:
        return service.standing()
    except WhetError:
        return None
