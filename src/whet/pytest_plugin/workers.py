"""pytest-xdist: the workers learn where the desk is, and get the tests so that the order survives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from whet.pytest_plugin.line import DeskError

if TYPE_CHECKING:
    from whet.pytest_plugin.recording import Recording


class Workers:
    """In the process that hands out the tests."""

    def __init__(self, config: pytest.Config, recording: Recording) -> None:
        self._config = config
        self._recording = recording

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        # Whole files or classes are handed out in the order of their first test, not by how many tests they have.
        if hasattr(self._config.option, "loadscopereorder"):
            self._config.option.loadscopereorder = False

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        try:
            node.workerinput["whet_desk"] = list(self._recording.line.address)
            node.workerinput["whet_dist"] = self._config.option.dist
        except DeskError as error:
            told = f"the suite's own order was kept ({error})"
            if told not in self._recording.story.troubles:
                self._recording.story.troubles.append(told)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        output = getattr(node, "workeroutput", None) or {}
        known = self._recording.story.troubles
        known.extend(told for told in output.get("whet_troubles", ()) if told not in known)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Any) -> Any:
        self._recording.story.workers = len(config.option.tx) or 1
        if config.option.dist != "load" or config.option.maxschedchunk is not None:
            return None
        from whet.pytest_plugin.handing_out import UnitScheduling

        return UnitScheduling(config, log, self._recording)
