"""Pictures of the dashboard for the docs, from a real run: python -m examples.screens DEST.

Needs Chromium (apt-get install chromium) and the service's extra. Lives through some weeks on recorded outcomes, visits
the example shop for real, serves it, and looks.
"""

import argparse
import shutil
import socket
import tempfile
import threading
import time
from pathlib import Path
from typing import NamedTuple

import uvicorn
from examples.dashboard_life import live, settled, visit
from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

from whet.core.people import Role
from whet.core.records import now
from whet.core.views import Asked
from whet.service.app import create_app
from whet.service.keys import mint, service_secret
from whet.store.sql_store import SqlStore

SHOP = Path(__file__).parent / "shop"
CHROMIUM = "/usr/bin/chromium"
_FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)


class Look(NamedTuple):
    path: str
    dark: bool = False
    phone: bool = False


def shown(store: SqlStore) -> dict[str, Look]:
    """What is worth a picture, by name."""
    decided = next(each.decision for each in store.views.decisions(agent="test-executor").items if each.credited)
    lines = store.views.findings(Asked(kind="failing-test")).items or store.views.findings(Asked()).items
    return {
        "overview": Look("/"),
        "decision": Look(f"/decisions/{decided.id}"),
        "finding": Look(f"/findings/{lines[0].fingerprint}" if lines else "/findings"),
        "learning": Look("/learning", dark=True),
        "experiments": Look("/experiments"),
        "phone": Look("/", dark=True, phone=True),
    }


def photograph(address: str, key: str, pages: dict[str, Look], folder: Path) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(_FLAGS))
        for name, look in pages.items():
            page = _come_in(browser, address, key, look)
            page.goto(address + look.path)
            page.locator(".live[data-state=on]").wait_for()
            page.screenshot(path=folder / f"dashboard-{name}.png")
            page.context.close()
        browser.close()


def _come_in(browser: Browser, address: str, key: str, look: Look) -> Page:
    size: ViewportSize = {"width": 390, "height": 844} if look.phone else {"width": 1180, "height": 760}
    page = browser.new_context(viewport=size, color_scheme="dark" if look.dark else "light").new_page()
    page.set_default_timeout(120_000)
    page.goto(f"{address}/login")
    page.fill("input[name=key]", key)
    page.get_by_role("button", name="Come in").click()
    page.wait_for_url(f"{address}/")
    return page


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dest", type=Path, help="the folder for the pictures")
    parser.add_argument("--days", type=int, default=40)
    parser.add_argument("--minutes", type=float, default=2.0, help="of the real visit")
    asked = parser.parse_args()
    asked.dest.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "shop"
        shutil.copytree(SHOP, project)
        site = settled(project, experiences=60)
        with site.store() as store:
            live(site, store, now(), asked.days, runs_a_day=4)
        visit(site, asked.minutes)
        with site.store() as store, socket.create_server(("127.0.0.1", 0)) as taken:
            key = mint(service_secret(site), "ada", Role.ADMIN)
            store.people.add(key.kept, "screens", now())
            app = create_app(site, store)
            app.state.desk.drifting.known(patience=60.0)  # it is looked for beside, and the page does not wait for it
            server = uvicorn.Server(uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=1))
            thread = threading.Thread(target=server.run, kwargs={"sockets": [taken]}, daemon=True)
            thread.start()
            while not server.started:
                time.sleep(0.05)
            photograph(f"http://127.0.0.1:{taken.getsockname()[1]}", key.text, shown(store), asked.dest)
            server.should_exit = True
            thread.join(20)


if __name__ == "__main__":
    main()
