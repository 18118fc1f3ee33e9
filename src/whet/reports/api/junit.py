"""JUnit XML: one testcase an operation, failed when a fault was found in it."""

from xml.etree import ElementTree

from whet.reports.api.model import ApiReport, FaultLine, OperationLine
from whet.reports.api.words import KINDS, by_urgency, fault_text, present
from whet.reports.junit import legal


def render_junit(report: ApiReport) -> str:
    """Faults that are fixed, or were not looked at again, fail nothing; operations never tried are skipped."""
    known = {operation.id for operation in report.operations}
    faults = by_urgency(present(report.faults))
    strays = {fault.operations[0]: None for fault in faults if fault.operations[0] not in known}
    cases = [_case(operation, faults) for operation in report.operations]
    cases += [_case(OperationLine(name, 1, {}, None), faults) for name in strays]
    root = ElementTree.Element("testsuites", name="whet api")
    suite = ElementTree.SubElement(root, "testsuite", _totals(report, cases))
    suite.extend(cases)
    return '<?xml version="1.0" encoding="utf-8"?>' + ElementTree.tostring(root, encoding="unicode")


def _totals(report: ApiReport, cases: list[ElementTree.Element]) -> dict[str, str]:
    totals = {
        "name": legal(report.title),
        "tests": str(len(cases)),
        "failures": str(sum(case.find("failure") is not None for case in cases)),
        "errors": "0",
        "skipped": str(sum(case.find("skipped") is not None for case in cases)),
    }
    return totals if report.seconds is None else {**totals, "time": f"{report.seconds:.3f}"}


def _case(operation: OperationLine, faults: list[FaultLine]) -> ElementTree.Element:
    attributes = {"classname": legal(operation.group or "api"), "name": legal(operation.id)}
    case = ElementTree.Element("testcase", attributes)
    own = [fault for fault in faults if fault.operations[0] == operation.id]
    if own:
        # One failure a case is what every reader understands; it tells all of the faults.
        failure = ElementTree.SubElement(case, "failure", type=own[0].kind, message=legal(_message(own)))
        failure.text = legal("\n\n".join(fault_text(fault) for fault in own))
    elif not operation.tried:
        ElementTree.SubElement(case, "skipped", message="not tried within the budget")
    return case


def _message(faults: list[FaultLine]) -> str:
    more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    first = f"{KINDS[faults[0].kind][0]}: {faults[0].title}".splitlines()[0]
    return f"{first}{more}"
