"""The environment variables the user's tools run with: the user's own, as in an activated environment."""

import os
from collections.abc import Mapping
from pathlib import Path

from whet.tools.python import Python

# Traces of a surrounding pytest or coverage, which would leak into the user's run.
_FOREIGN = ("PYTEST_CURRENT_TEST", "PYTEST_XDIST_", "COVERAGE_PROCESS_", "COV_CORE_", "PYTHONHOME", "WHET_")


def environment(python: Python) -> dict[str, str]:
    env = {name: value for name, value in os.environ.items() if not name.startswith(_FOREIGN)}
    return {**env, **_activation(python.path, env)}


def _activation(interpreter: Path, env: Mapping[str, str]) -> dict[str, str]:
    """Tests call the console scripts of their environment; give them its PATH, as its activation would."""
    home = interpreter.parent.parent
    if not (home / "pyvenv.cfg").is_file():
        return {}
    path = os.pathsep.join(filter(None, (str(interpreter.parent), env.get("PATH"))))
    return {"VIRTUAL_ENV": str(home), "PATH": path}
