"""Runs pytest under coverage.py in the user's interpreter: `python -m whet_cover <pytest arguments>`.

Like `coverage run -m pytest` with the user's own configuration, except that the data goes where
WHET_PLAN says, into one file, with no contexts other than those Whet asks for. The command line of
coverage.py cannot take back the contexts of a configuration file; its API can.
"""

from __future__ import annotations

import glob
import json
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import coverage


def measured(plan: dict[str, Any]) -> coverage.Coverage:
    """A Coverage as the user configured it, with the plan's wishes on top."""
    import coverage

    cover = coverage.Coverage(data_file=plan["data_file"], branch=True if plan["branch"] else None)
    for option in ("dynamic_context", "context"):
        cover.set_option("run:" + option, None)
    chosen = [cover.get_option("run:" + option) for option in ("source", "source_pkgs", "include")]
    if not any(chosen):
        cover.set_option("run:source", plan["source"])
    return cover


def gather(data_file: str) -> None:
    """Put the files that a configuration with `parallel` or `multiprocessing` makes, one per process, into one."""
    import coverage

    pieces = glob.glob(glob.escape(data_file) + ".*")  # noqa: PTH207 - nothing else needs pathlib
    if pieces:
        whole = coverage.Coverage(data_file=data_file)
        if os.path.exists(data_file):  # noqa: PTH110 - as above
            whole.load()
        whole.combine(pieces)
        whole.save()


def main() -> int:
    with open(os.environ["WHET_PLAN"], encoding="utf-8") as file:  # noqa: PTH123 - nothing else needs pathlib
        plan = json.load(file)["coverage"]
    cover = measured(plan)
    cover.start()
    try:
        import pytest

        return pytest.main(sys.argv[1:])
    finally:
        cover.stop()
        cover.save()
        gather(plan["data_file"])


if __name__ == "__main__":
    sys.exit(main())
