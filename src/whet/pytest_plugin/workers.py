"""pytest-xdist: the workers learn where the desk is, and get the tests so that the order survives."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pytest

from whet.pytest_plugin.line import DeskError

if TYPE_CHECKING:
    from whet.pytest_plugin.recording import Recording

# Ways of handing out that follow from the tests' names alone; --dist loadgroup goes by marks, each runs all everywhere.
_BY_NAMES = ("load", "loadfile", "loadscope", "worksteal")


class Workers:
    """In the process that hands out the tests."""

    def __init__(self, config: pytest.Config, recording: Recording) -> None:
        self._config = config
        self._recording = recording
        self._plain_reorder: bool | None = getattr(config.option, "loadscopereorder", None)
        self._log: Any = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        if not self._recording.story.observing:
            self._hand_out_files_in_order()

    def _hand_out_files_in_order(self) -> None:
        """Whole files or classes in the order of their first test, not by how many tests they have."""
        if self._plain_reorder is not None:
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
    def pytest_xdist_make_scheduler(self, log: Any) -> Any:
        """Who only watches leaves it to pytest-xdist."""
        self._log = log
        self._recording.story.elsewhere = self._elsewhere
        return None if self._recording.story.observing else self._ours()

    def _ours(self) -> Any:
        if self._config.option.dist != "load" or self._config.option.maxschedchunk is not None:
            return None
        from whet.pytest_plugin.handing_out import UnitScheduling

        return UnitScheduling(self._config, self._log, self._recording)

    def _elsewhere(self, order: Sequence[str], seconds: Mapping[str, float], failures: Collection[str]) -> float | None:
        """When the first failure would have come: with ours, had we not only watched; else with pytest-xdist alone."""
        from whet.pytest_plugin.replaying import failure_with_workers

        option, given = self._config.option, self._config.option.loadscopereorder
        if option.dist not in _BY_NAMES:
            return None
        observing = self._recording.story.observing
        try:
            option.loadscopereorder = False if observing else self._plain_reorder
            scheduler = (self._ours() if observing else None) or self._theirs()
            return failure_with_workers(scheduler, order, seconds, failures)
        except Exception:  # another version of pytest-xdist may ask more of a worker: then it is not known
            return None
        finally:
            option.loadscopereorder = given

    def _theirs(self) -> Any:
        handing_out: Any = self._config.pluginmanager.getplugin("dsession")
        return handing_out.pytest_xdist_make_scheduler(self._config, self._log)
