"""A piece of work in a process of its own, so that it can be broken off: `python -m whet.mcp.errand NAME ROOT [...]`.

Tells what happens as lines of JSON: `{"progress": …}` any number of times, then `{"result": …}` or `{"error": …}`.
Only these lines leave through standard output; what tests and libraries print goes nowhere.
"""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

from whet.bootstrap.site import open_site
from whet.core.errors import WhetError
from whet.tools.process import Limits
from whet.tools.suite import Suite

COLLECT_SECONDS = 300.0
Tell = Callable[[dict[str, Any]], None]


def collect(root: Path, tell: Tell) -> dict[str, Any]:
    tell({"progress": "collecting tests"})
    site = open_site(root)
    with Suite(site.project, site.python) as suite:
        found = suite.collect(Limits(timeout_seconds=COLLECT_SECONDS))
    if not found.ids:
        raise WhetError(found.problem() or "pytest collected no tests.", "Run `pytest --collect-only` to see why.")
    return {"tests": found.ids}


def run(root: Path, tell: Tell, agent: str, minutes: str) -> dict[str, Any]:
    from whet.mcp.visit import visit

    told = visit(root, agent, float(minutes), lambda told: tell({"progress": told}), lambda run: tell({"run": run}))
    return told.model_dump(mode="json")


ERRANDS: dict[str, Callable[..., dict[str, Any]]] = {"collect": collect, "run": run}


def main(arguments: list[str]) -> None:
    output = _own_output()

    def tell(told: dict[str, Any]) -> None:
        output.write(json.dumps(told, allow_nan=False) + "\n")  # ASCII: it may be cut anywhere
        output.flush()

    name, root, *rest = arguments
    try:
        tell({"result": ERRANDS[name](Path(root), tell, *rest)})
    except WhetError as error:
        tell({"error": str(error)})
    except OSError as error:
        tell({"error": f"{error.strerror or error} ({error.filename})" if error.filename else str(error)})
    except Exception as error:
        told = f"{type(error).__name__}: {error}"
        tell({"error": f"Whet met an internal error, please report it: {told}. `whet run` in a terminal says more."})


def _own_output() -> TextIO:
    output = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)
    return output


if __name__ == "__main__":
    main(sys.argv[1:])
