"""A real browser for tests: the system's Chromium, driven by Playwright."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, NamedTuple

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, sync_playwright
from tests.service.dashboard import Served

from whet.core.people import Role

CHROMIUM = Path("/usr/bin/chromium")
SCREENS = Path(__file__).parents[2] / "build" / "screens"
_FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
DESK, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}


@contextmanager
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(_FLAGS))
        try:
            yield browser
        finally:
            browser.close()


class Window(NamedTuple):
    """Somebody at work, and what the console complained of."""

    page: Page
    address: str
    complaints: list[str]

    def go(self, path: str) -> Page:
        self.page.goto(self.address + path)
        return self.page

    def overflow(self) -> int:
        """How many pixels the page is wider than the screen."""
        measured: int = self.page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        return measured


@contextmanager
def window(
    browser: Browser,
    served: Served,
    role: Role = Role.ADMIN,
    theme: Literal["light", "dark"] = "light",
    phone: bool = False,
    scripts: bool = True,
) -> Iterator[Window]:
    """Logged in with a key of that role."""
    size = PHONE if phone else DESK
    context: BrowserContext = browser.new_context(viewport=size, color_scheme=theme, java_script_enabled=scripts)  # type: ignore[arg-type]
    complaints: list[str] = []
    page = context.new_page()
    page.set_default_timeout(60_000)
    page.on("console", lambda message: _complain(message, complaints))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(served.address + "/login")
    page.fill("input[name=key]", served.key(role))
    page.get_by_role("button", name="Come in").click()
    page.wait_for_url(served.address + "/")
    try:
        yield Window(page, served.address, complaints)
    finally:
        context.close()


def _complain(message: ConsoleMessage, complaints: list[str]) -> None:
    if message.type in ("error", "warning"):
        complaints.append(message.text)
