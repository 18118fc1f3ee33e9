"""How faults and numbers are worded, the same in every form of the report."""

from collections import Counter
from collections.abc import Iterable

from whet.reports.api.model import ApiReport, EdgeLine, FaultLine, Severity
from whet.reports.words import SEVERITIES, counted, listed
from whet.skills.api.faults import Kind

KINDS: dict[Kind, tuple[str, str]] = {
    Kind.CRASH: ("crash of the service", "crashes of the service"),
    Kind.MISSING_AUTH: ("missing authentication", "missing authentications"),
    Kind.SERVER_ERROR: ("server error", "server errors"),
    Kind.TIMEOUT: ("timeout", "timeouts"),
    Kind.LOST_UPDATE: ("lost update", "lost updates"),
    Kind.READ_AFTER_DELETE: ("read after delete", "reads after delete"),
    Kind.NOT_CREATED: ("create that cannot be read", "creates that cannot be read"),
    Kind.INVALID_ACCEPTED: ("accepted invalid input", "accepted invalid inputs"),
    Kind.SCHEMA_VIOLATION: ("schema violation", "schema violations"),
    Kind.VALID_REFUSED: ("refused valid input", "refused valid inputs"),
    Kind.UNDOCUMENTED_STATUS: ("undocumented status", "undocumented statuses"),
    Kind.UNDOCUMENTED_MEDIA: ("undocumented content type", "undocumented content types"),
}
SEVERITY: dict[Kind, Severity] = {
    Kind.CRASH: "critical",
    Kind.MISSING_AUTH: "critical",
    Kind.SERVER_ERROR: "high",
    Kind.TIMEOUT: "high",
    Kind.LOST_UPDATE: "high",
    Kind.READ_AFTER_DELETE: "high",
    Kind.NOT_CREATED: "high",
    Kind.INVALID_ACCEPTED: "medium",
    Kind.SCHEMA_VIOLATION: "medium",
    Kind.VALID_REFUSED: "medium",
    Kind.UNDOCUMENTED_STATUS: "low",
    Kind.UNDOCUMENTED_MEDIA: "low",
}
RULES: dict[Kind, str] = {
    Kind.CRASH: "The service answers every request: it neither dies nor cuts the connection.",
    Kind.MISSING_AUTH: "An operation that requires credentials refuses requests without them.",
    Kind.SERVER_ERROR: "No request is answered with a status of 500 or above.",
    Kind.TIMEOUT: "Every request is answered in time.",
    Kind.LOST_UPDATE: "What an update has set is there when it is read.",
    Kind.READ_AFTER_DELETE: "What was deleted cannot be read any more.",
    Kind.NOT_CREATED: "What was created can be read.",
    Kind.INVALID_ACCEPTED: "Input that breaks the contract is refused.",
    Kind.SCHEMA_VIOLATION: "An answer has the shape that the contract promises.",
    Kind.VALID_REFUSED: "Input that keeps the contract is not refused as invalid.",
    Kind.UNDOCUMENTED_STATUS: "Every status that is answered is in the contract.",
    Kind.UNDOCUMENTED_MEDIA: "Every content type that is answered is in the contract.",
}
KINDS_NAMED = 3
_STANDINGS = ("new", "known", "not re-tested", "fixed")


def present(faults: Iterable[FaultLine]) -> list[FaultLine]:
    """Those that are there as far as is known: not the fixed ones, not those that nobody looked at again."""
    return [fault for fault in faults if fault.standing in ("new", "known")]


def by_urgency(faults: Iterable[FaultLine]) -> list[FaultLine]:
    """New and known ones first; among them the confirmed before the others and the most severe first."""
    gone = ("not re-tested", "fixed")
    return sorted(
        faults,
        key=lambda fault: (
            fault.standing in gone,
            not fault.confirmed,
            SEVERITIES.index(fault.severity),
            _STANDINGS.index(fault.standing),
        ),
    )


def headline(report: ApiReport) -> str:
    """What is wrong, in one sentence."""
    begin = "The run was interrupted; this is what was known by then. " if report.interrupted else ""
    faults = present(report.faults)
    if not faults:
        return begin + ("Nothing wrong was found." if report.requests else "No request was sent.") + _fixed(report)
    return f"{begin}{_named(faults)}{_news(report, faults)}.{_fixed(report)}"


def _named(faults: list[FaultLine]) -> str:
    """The worst kinds by name, so that the sentence stays one: 1 crash of the service, 2 server errors and 9 others."""
    kinds = Counter(fault.kind for fault in faults)
    named = [counted(kinds[kind], *KINDS[kind]) for kind in KINDS if kinds[kind]]
    if len(named) <= KINDS_NAMED:
        return listed(named)
    others = len(faults) - sum(kinds[kind] for kind in [kind for kind in KINDS if kinds[kind]][: KINDS_NAMED - 1])
    return listed([*named[: KINDS_NAMED - 1], f"{others} others"])


def _news(report: ApiReport, faults: list[FaultLine]) -> str:
    if not report.earlier_runs:
        return ""
    new = sum(fault.standing == "new" for fault in faults)
    return {0: ", none of them new", len(faults): ", all new"}.get(new, f", {new} of them new")


def _fixed(report: ApiReport) -> str:
    fixed = sum(fault.standing == "fixed" for fault in report.faults)
    return f" {counted(fixed, 'earlier finding is', 'earlier findings are')} fixed." if fixed else ""


def reached(report: ApiReport) -> int:
    return sum(operation.reached_at is not None for operation in report.operations)


def spent(report: ApiReport) -> str:
    """1,204 of 2,000"""
    budget = "" if report.budget_requests is None else f" of {report.budget_requests:,}"
    return f"{report.requests:,}{budget}"


def evidence(edge: EdgeLine) -> str:
    return f"worked {edge.worked} of {counted(edge.tried, 'time', 'times')}" if edge.tried else "not tried yet"


def fault_text(fault: FaultLine) -> str:
    """Everything a reader of a plain text needs: what, why, and how to see it again."""
    lines = [fault.title, fault.detail]
    if not fault.confirmed:
        lines.append("Not confirmed: it was not seen again when the same requests were sent once more.")
    lines += [
        f"Step {number}: {step.operation} → {_answered(step.status)}" for number, step in enumerate(fault.steps, 1)
    ]
    return "\n".join([line for line in lines if line] + [f"See it again: {fault.curl}"])


def _answered(status: int | None) -> str:
    return "no answer" if status is None else str(status)
