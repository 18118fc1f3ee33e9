"""Puts the plugin's parts into pytest, where they are needed."""

from __future__ import annotations

import pytest

from whet.pytest_plugin.options import wishes


def install(config: pytest.Config) -> None:
    asked = wishes(config)
    from whet.pytest_plugin.running import Running

    workerinput = getattr(config, "workerinput", None)
    if workerinput is not None:
        if "whet_desk" in workerinput:
            from whet.pytest_plugin.line import Address, Line

            line = Line(Address(*workerinput["whet_desk"]))
            config.pluginmanager.register(Running(config, asked, lambda: line), "whet-running")
        return
    from whet.pytest_plugin.recording import Recording
    from whet.pytest_plugin.workers import Workers

    recording = Recording(config, asked)
    config.pluginmanager.register(recording, "whet-recording")
    config.pluginmanager.register(Running(config, asked, lambda: recording.line), "whet-running")
    config.pluginmanager.register(Workers(config, recording), "whet-workers")
