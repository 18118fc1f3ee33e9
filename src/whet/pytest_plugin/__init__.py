"""`pytest --whet`: the same tests, the ones most likely to fail first.

pytest imports this module in every run of every project where Whet is installed, so it holds the options and
nothing else; the rest is imported when somebody asks for it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import pytest

_ASKS = ("whet", "whet_budget", "whet_risk", "whet_shadow", "whet_strict_quarantine", "whet_map")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("whet", "whet: tests that are likely to fail come first")
    group.addoption(
        "--whet",
        action="store_true",
        default=None,
        help="order the tests so that failures come early, and learn from this run. Nothing is left out. "
        "`whet = true` in pytest's settings asks for it in every run; --whet-shadow tries it without effect.",
    )
    group.addoption(
        "--whet-budget",
        metavar="TIME",
        help="run only what fits into this time (5m, 90s, 1h, or seconds), most promising first, and say how likely a "
        "failure is missed. New, changed and lately failed tests are always chosen; after nine such runs all run.",
    )
    group.addoption(
        "--whet-risk",
        metavar="SHARE",
        help="run the fewest tests that keep the chance of missing a failing run below this (5%%, or 0.05); "
        "everything while too little is known to promise that.",
    )
    group.addoption(
        "--whet-shadow",
        action="store_true",
        default=None,
        help="keep the suite's own order and only report what --whet would have done.",
    )
    group.addoption(
        "--whet-strict-quarantine",
        action="store_true",
        default=None,
        help="let failures of quarantined tests (`whet quarantine list`) make the run red, as any other's.",
    )
    group.addoption(
        "--whet-map",
        choices=("auto", "full", "off"),
        help="learn which lines a test executes, to find the tests of a change: auto traces a few tests per run "
        "(at most a tenth of the suite's time), full all of them, off none. Default: auto.",
    )
    parser.addini("whet", "order tests by Whet in every run, as --whet does", type="bool", default=False)


def pytest_configure(config: pytest.Config) -> None:
    option = config.option
    if config.getini("whet") or any(getattr(option, name, None) for name in _ASKS):
        from whet.pytest_plugin.installing import install

        install(config)
