"""How long somebody looks at nothing: first contentful paint of pages in Chromium, from going to the first words."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from benchmarks.service_served import Served
from playwright.sync_api import Page, sync_playwright

CHROMIUM = "/usr/bin/chromium"
REPEATS = 10
_FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
_LOOK_MS = 20
_PAINT = "performance.getEntriesByName('first-contentful-paint')"


def first_paints_ms(served: Served, paths: Sequence[str]) -> dict[str, float]:
    """By page, the least of several times: others are at work on the machine."""
    with _come_in(served) as page:
        return {path: min(_painted(page, served.address + path) for _ in range(REPEATS)) for path in paths}


def _painted(page: Page, address: str) -> float:
    page.goto(address)
    # Not `wait_for_function`, which evaluates text where the page allows none.
    while not (seen := page.evaluate(f"{_PAINT}.map(each => each.startTime)")):
        page.wait_for_timeout(_LOOK_MS)
    return float(seen[0])


@contextmanager
def _come_in(served: Served) -> Iterator[Page]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(_FLAGS))
        try:
            page = browser.new_page()
            page.set_default_timeout(120_000)
            page.goto(f"{served.address}/login")
            page.fill("input[name=key]", served.key)
            page.get_by_role("button", name="Come in").click()
            page.wait_for_url(f"{served.address}/")
            yield page
        finally:
            browser.close()
