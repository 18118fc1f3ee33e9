"""The dashboard in a real browser: every page with real data, every action clicked, live, and safe to look at."""

import os
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.service.browsing import CHROMIUM, SCREENS, Window, chromium, window
from tests.service.dashboard import HOSTILE, Served, doubt, furnished, hostile, served

from whet.bootstrap.site import open_site
from whet.checks.store_samples import run_record
from whet.core.candidates import Stage
from whet.core.memories import Wanted
from whet.core.people import Role
from whet.core.records import now
from whet.core.views import Asked, FindingLine, Standing

pytestmark = pytest.mark.skipif(
    not CHROMIUM.exists() and not os.environ.get("CI"),  # where nobody would read it, what is left out is an error
    reason="No Chromium: apt-get install chromium",
)

expect.set_options(timeout=60_000)  # machines that test are busy
PAGES = {
    "/": "Overview",
    "/runs": "Runs",
    "/findings": "Findings",
    "/decisions": "Decisions",
    "/review": "Review",
    "/learning": "Learning",
    "/models": "Models",
    "/models/1": "Model 1 of test-executor",
    "/models/1/rollback": "Roll back model 1?",
    "/experiments": "Experiments",
    "/rewards": "Rewards",
    "/memory": "Memory",
    "/resources": "Resources and cost",
    "/audit": "Audit",
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(furnished(tmp_path_factory.mktemp("dashboard") / "shop")) as running:
        yield running


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def admin(browser: Browser, place: Served) -> Iterator[Window]:
    with window(browser, place) as opened:
        yield opened


def _found(place: Served) -> FindingLine:
    """Something that the real visit found. On a machine that is too busy for the suite, that is what it found."""
    lines = place.store.views.findings(Asked()).items
    return next(each for each in lines if place.store.feedback.behind(each.fingerprint))


def _single(place: Served) -> dict[str, str]:
    """The pages of single things."""
    found = _found(place)
    decided = place.store.views.decisions(agent="test-executor").items[-1].decision
    return {
        f"/findings/{found.fingerprint}": found.finding.title,
        f"/runs/{found.last_run}": "Run of",
        f"/decisions/{decided.id}": f"{decided.agent}: {decided.action}",
    }


def test_every_page_shows_real_data_to_everybody(browser: Browser, place: Served) -> None:
    """In light and dark, on a desk and a phone: no complaint, no sideways scrolling, nothing axe calls serious."""
    from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]

    SCREENS.mkdir(parents=True, exist_ok=True)
    axe = Axe()
    for theme, phone in (("light", False), ("dark", True)):
        with window(browser, place, theme=theme, phone=phone) as opened:  # type: ignore[arg-type]
            for path, heading in (PAGES | _single(place)).items():
                page = opened.go(path)
                expect(page.locator("h1")).to_contain_text(heading)
                assert opened.overflow() <= 0, (path, theme)
                page.screenshot(
                    path=SCREENS / f"{_name(path)}-{theme}.png", full_page=path not in ("/audit", "/memory")
                )
                assert _serious(axe.run(page).response) == [], (path, theme)
            assert opened.complaints == [], theme


def _name(path: str) -> str:
    words = [word for word in path.split("/") if word]
    return (
        "overview"
        if not words
        else "-".join(words[:1] if len(words[-1]) > 12 else words) + ("-one" if len(words) > 1 else "")
    )


def _serious(found: dict[str, Any]) -> list[str]:
    return [
        f"{each['id']}: {[node['html'][:160] for node in each['nodes'][:2]]}"
        for each in found["violations"]
        if each["impact"] in ("serious", "critical")
    ]


def test_numbers_on_the_overview_are_those_of_the_store(admin: Window, place: Served) -> None:
    page = admin.go("/")
    totals = place.store.views.totals(None, now().date())
    judged = sum(total.judged for total in totals)
    mean = sum(total.reward for total in totals) / judged
    expect(page.locator(".figure").first).to_contain_text(f"{mean:+.2f}")
    expect(page.locator(".figure").first).to_contain_text(f"from {sum(total.runs for total in totals)} runs")
    assert page.locator(".plot polyline").count() >= 1
    page.get_by_role("link", name="7 days").click()
    expect(page.get_by_role("link", name="7 days")).to_have_attribute("aria-current", "true")


def test_a_mark_changes_the_reward_behind_a_finding(admin: Window, place: Served) -> None:
    found = _found(place)
    behind = place.store.feedback.behind(found.fingerprint)
    before = behind[0].reward.credited
    page = admin.go(f"/findings/{found.fingerprint}")
    page.get_by_role("button", name="False alarm").click()
    expect(page.get_by_text("Your mark is kept.")).to_be_visible()
    expect(page.get_by_role("button", name="False alarm")).to_have_attribute("aria-pressed", "true")
    after = place.store.feedback.behind(found.fingerprint)[0].reward.credited
    assert after < before
    expect(page.locator("section.card table")).to_contain_text(f"{after:+.1f}")
    page.get_by_role("button", name="Take the mark back").click()
    expect(page.get_by_text("Your mark is taken back")).to_be_visible()
    assert place.store.feedback.behind(found.fingerprint)[0].reward.credited == pytest.approx(before)
    page.get_by_role("button", name="It is real").click()
    expect(page.get_by_text("admin called it")).to_be_visible()
    admin.go("/findings")
    page.get_by_label("Marked").select_option("real")
    page.get_by_role("button", name="Show").click()
    expect(page.locator("article.finding")).to_have_count(1)


def test_a_run_is_rated(admin: Window, place: Served) -> None:
    run = place.store.views.runs().items[0].run.id
    before = place.store.views.run(run)
    page = admin.go(f"/runs/{run}")
    page.get_by_role("button", name="2 of 5").click()
    expect(page.get_by_text("gave it 2 of 5")).to_be_visible()
    after = place.store.views.run(run)
    assert before is not None
    assert after is not None
    assert before.reward is not None
    assert after.reward is not None
    assert after.reward < before.reward


def test_decisions_are_approved_overridden_and_taken_back(admin: Window, place: Served) -> None:
    page = admin.go("/review")
    waiting = place.store.views.waiting().items[0].decision
    page.get_by_role("button", name=f"Approve {waiting.proposed}").first.click()
    expect(page.get_by_text("Approved: from now on")).to_be_visible()
    ruling = place.store.decisions.ruling(waiting.agent, waiting.state_key)
    assert ruling is not None
    assert (ruling.action, ruling.by) == (waiting.proposed, "admin")
    page.get_by_label("Instead").select_option(index=0)
    page.get_by_role("button", name="Always run this").click()
    expect(page.get_by_text("Overridden: from now on")).to_be_visible()
    page.get_by_role("button", name="Take my word back").click()
    expect(page.get_by_text("Taken back: the fleet")).to_be_visible()
    assert place.store.decisions.ruling(waiting.agent, waiting.state_key) is None


def test_a_model_is_paused_resumed_promoted_and_rolled_back(admin: Window, place: Served) -> None:
    """Each is asked on a page before it is done."""

    def stands() -> tuple[Stage, bool]:
        found = place.store.candidates.get(1)
        assert found is not None
        return found.stage, found.paused

    page = admin.go("/models/1")
    page.get_by_role("link", name="Pause…").click()
    page.get_by_label("Why").fill("let us look")
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_text("It stays where it is until")).to_be_visible()
    assert stands() == (Stage.CANARY, True)
    page.get_by_role("link", name="Resume…").click()
    page.get_by_role("button", name="Resume").click()
    expect(page.get_by_text("It goes on.")).to_be_visible()
    page.get_by_role("link", name="Promote…").click()
    expect(page.get_by_text("It would go without:")).to_be_visible()
    assert stands() == (Stage.CANARY, False), "asking changes nothing"
    page.get_by_role("button", name="Promote all the same").click()
    expect(page.get_by_text("It is in production now.")).to_be_visible()
    page.get_by_role("link", name="Roll back…").click()
    page.get_by_role("button", name="Roll back").click()
    expect(page.get_by_text("It is out of use")).to_be_visible()
    assert stands()[0] is Stage.ROLLED_BACK
    told = place.store.audit.entries(10)
    assert any(entry.payload.get("by") == "admin" for entry in told), "under the name of who did it"


def test_weights_are_previewed_before_they_are_saved(admin: Window, place: Served) -> None:
    page = admin.go("/rewards")
    page.get_by_label("bugs found").fill("2")
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_text("This is a preview. Nothing is saved yet.")).to_be_visible()
    expect(page.locator("thead")).to_contain_text("As asked")
    assert place.store.feedback.rules() is None
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("The new weights hold from the next run on.")).to_be_visible()
    assert place.site.settings.rewards.weights == {"bugs_found": 2.0}
    other = open_site(place.site.project.root)
    with other.store():
        assert other.settings.rewards.weights == {"bugs_found": 2.0}, "the next run, in a process of its own"
    page.get_by_role("button", name="Go back to the settings").click()
    expect(page.get_by_text("The weights of the settings hold again.")).to_be_visible()
    assert place.site.settings.rewards.weights == {}


def test_memories_are_found_pinned_and_forgotten(admin: Window, place: Served) -> None:
    page = admin.go("/memory")
    wanted = Wanted(project=place.site.project.name)
    told = wanted.model_copy(update={"topics": ("finding", "failure")})  # experiences are found by their state
    newest = place.store.memories.newest(told, 1)[0]
    sought = newest.text.split("\n")[0][:60]
    page.get_by_label("Look for").fill(newest.text[:200])
    page.get_by_role("button", name="Look").click()
    expect(page.locator("article.memory", has_text=sought).first).to_be_visible()
    before = place.store.memories.count(wanted)
    admin.go("/memory")
    page.get_by_role("button", name="Pin").first.click()
    expect(page.get_by_text("It is pinned")).to_be_visible()
    page.get_by_role("link", name="Forget…").first.click()
    expect(page.get_by_text("Nobody can bring it back")).to_be_visible()
    page.get_by_role("button", name="Forget it").click()
    expect(page.get_by_text("It is forgotten, everywhere.")).to_be_visible()
    assert place.store.memories.count(wanted) == before - 1


def test_the_audit_trail_is_verified_on_request(admin: Window) -> None:
    page = admin.go("/audit")
    page.get_by_role("link", name="Older").click()
    expect(page.get_by_role("link", name="Newest")).to_be_visible()
    page.get_by_role("button", name="Verify the whole trail").click()
    expect(page.get_by_text("The trail holds:")).to_be_visible()


def test_what_happens_shows_without_reloading(admin: Window, place: Served) -> None:
    page = admin.go("/runs")
    expect(page.locator("#live")).to_contain_text("live")
    page.evaluate("window.sameDocument = true")
    with open_site(place.site.project.root).store() as elsewhere:  # as another process has it
        elsewhere.runs.start(run_record("live-run").model_copy(update={"project": "shop"}))
    expect(page.locator('a[href="/runs/live-run"]')).to_be_visible()
    doubt(place.store)
    expect(page.locator("nav.side .badge")).to_contain_text(str(len(place.store.views.waiting().items)))
    assert page.evaluate("window.sameDocument") is True
    assert admin.complaints == []


def test_what_somebody_is_typing_is_not_swapped_away(admin: Window, place: Served) -> None:
    page = admin.go("/rewards")
    expect(page.locator("#live")).to_contain_text("live")
    page.get_by_label("coverage gain").fill("0.77")
    place.store.audit.append("noted", "something", {})
    expect(page.locator("#stale")).to_be_visible()
    expect(page.get_by_label("coverage gain")).to_have_value("0.77")


def test_whose_session_ended_is_told(browser: Browser, place: Served) -> None:
    with window(browser, place, Role.REVIEWER) as opened:
        expect(opened.page.locator("#live")).to_contain_text("live")
        keys = place.store.people.all()
        (key,) = [each for each in keys if each.role is Role.REVIEWER]
        place.store.people.revoke(key.id, "the test", now())
        expect(opened.page.locator("#ended")).to_be_visible()
        expect(opened.page.locator("#live")).to_contain_text("not live")


def test_hostile_texts_are_shown_and_never_run(admin: Window) -> None:
    for path in ("/findings", f"/findings/{hostile().fingerprint()}", "/audit", "/memory?q=%3Cscript%3E"):
        page = admin.go(path)
        assert page.evaluate("window.hacked") is None
    page = admin.go(f"/findings/{hostile().fingerprint()}")
    expect(page.locator("h1")).to_contain_text("<script>window.hacked=2</script>")
    assert "49" not in page.locator("h1").inner_text()
    assert HOSTILE not in page.content()
    assert admin.complaints == []


def test_pages_work_without_scripts(browser: Browser, place: Served) -> None:
    found = hostile().fingerprint()
    with window(browser, place, scripts=False) as opened:
        page = opened.go(f"/findings/{found}")
        page.get_by_role("button", name="False alarm").click()
        expect(page.get_by_text("Your mark is kept.")).to_be_visible()
    line = place.store.views.finding(found)
    assert line is not None
    assert line.standing is Standing.FALSE_ALARM


def test_the_keyboard_is_enough(admin: Window) -> None:
    page = admin.go("/findings")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_label("Kind")).to_be_focused()
    assert _outlined(page)


def _outlined(page: Page) -> bool:
    style: str = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    return style != "none"


def test_colours_are_chosen_and_kept(admin: Window) -> None:
    page = admin.go("/")
    before = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.get_by_role("button", name="Use dark colours").click()
    after = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert before != after
    admin.go("/runs")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == after
    page.get_by_role("button", name="Use light colours").click()


def test_a_viewer_looks_and_changes_nothing(browser: Browser, place: Served) -> None:
    with window(browser, place, Role.VIEWER) as opened:
        for path in (*PAGES, *_single(place)):
            if path.endswith("/rollback"):
                continue
            page = opened.go(path)
            forms = page.locator("main form[method=post], main [formmethod=post]")
            assert forms.count() == 0, path
        opened.go("/models/1/promote")
        expect(opened.page.locator("h1")).to_contain_text("Forbidden")


def test_who_leaves_is_out(browser: Browser, place: Served) -> None:
    with window(browser, place, Role.OPERATOR) as opened:
        opened.page.get_by_role("button", name="Log out").click()
        expect(opened.page.get_by_label("Key")).to_be_visible()
        opened.go("/runs")
        expect(opened.page.locator("h1")).to_contain_text("Unauthorized")
