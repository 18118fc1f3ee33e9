"""A pytest plugin that selects, orders and watches tests for Whet, and leaves everything else to pytest.

Loaded with `-p whet_probe` in the user's interpreter: standard library only, Python 3.8 and pytest 7
or newer. The plan is the JSON file named by WHET_PLAN; what happens goes to the file named by
WHET_EVENTS, one JSON object per line and per write, so that a killed run leaves whole lines.

Under pytest-xdist the workers collect, select and order (all alike), and say what they started;
the first of them tells what was collected. Verdicts come from the controller; what a worker saw of
a test travels on its reports as the attribute `whet_facts`.

Other plugins are held back here and not on the command line, where an option of a plugin that the
project switches off would be a usage error.
"""

from __future__ import annotations

import json
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    import pytest


def pytest_addoption(pluginmanager: pytest.PytestPluginManager) -> None:
    # The first hook that a plugin named with -p gets; the probe has hooks that come before pytest_configure.
    if "WHET_PLAN" in os.environ and not pluginmanager.hasplugin("whet_probe_instance"):
        from .plugin import Probe
        from .watch import Events

        with open(os.environ["WHET_PLAN"], encoding="utf-8") as plan:  # noqa: PTH123 - nothing else needs pathlib
            probe = Probe(json.load(plan), Events(os.environ["WHET_EVENTS"]))
        pluginmanager.register(probe, "whet_probe_instance")
