"""What a decision or a finding was reminded by is told wherever it is told."""

from datetime import UTC, datetime
from io import StringIO

from rich.console import Console

from whet.core.records import Finding, Recollection
from whet.reports.html import render_html
from whet.reports.jsonout import as_json
from whet.reports.model import FoundLine, RunReport, StepLine
from whet.reports.terminal import print_report

MEMORY = Recollection(
    memory="abcdef0123456789", text="it <b>timed out</b> before", why="about the same test", weight=0.5
)
FACT = Recollection(
    memory="fedcba9876543210", text="t fails <i>when</i> p changes: 14 of 15", why="it held", weight=0.7
)


def report() -> RunReport:
    step = StepLine(
        agent="test-executor",
        action="run_all_tests",
        action_summary="run all tests",
        decided_by="policy",
        explored=False,
        confidence=0.8,
        probability=0.9,
        reward_raw=1.0,
        reward_shaped=1.0,
        reward_credited=1.0,
        duration_seconds=1.0,
        why="because",
        memories=(MEMORY,),
    )
    finding = Finding(
        kind="failing-test", title="t fails", severity="high", evidence="e", memories=(MEMORY,), known=(FACT,)
    )
    return RunReport(
        project="shop",
        run_id="r",
        started_at=datetime(2026, 1, 1, tzinfo=UTC),
        ended_at=None,
        seed=1,
        budget_seconds=60.0,
        used_seconds=1.0,
        status="finished",
        python_path=None,
        python_version=None,
        findings=(FoundLine(finding=finding, new=True),),
        steps=(step,),
    )


def test_the_page_tells_it_twice_and_escapes_it() -> None:
    page = render_html(report())
    assert page.count("memory abcdef01 (50 %): about the same test") == 2
    assert page.count("it &lt;b&gt;timed out&lt;/b&gt; before") == 2
    assert "Known: t fails &lt;i&gt;when&lt;/i&gt; p changes: 14 of 15" in page


def test_the_terminal_tells_it() -> None:
    shown = StringIO()
    print_report(report(), Console(file=shown, width=200))
    assert "resembles memory abcdef01 (50 %): about the same test" in shown.getvalue()
    assert "known: t fails <i>when</i> p changes: 14 of 15" in shown.getvalue()
    assert shown.getvalue().count("memory abcdef01 (50 %): about the same test") == 2


def test_programs_get_all_of_it() -> None:
    told = as_json(report())
    assert told["steps"][0]["memories"] == told["findings"][0]["memories"] == [MEMORY.model_dump()]
