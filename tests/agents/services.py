"""Small projects whose service is the example library."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from examples.api.running import ROOT

from whet.bootstrap import assembly
from whet.bootstrap.site import open_site
from whet.tools.suite import Suite
from whet.tools.workplace import Workplace

KEY = "library-demo-key"


def serving(faults: str = "none", *switches: str) -> str:
    """What starts the library on {port}."""
    words = [sys.executable, "-m", "examples.api.serve", "--port", "{port}", "--faults", faults, *switches]
    return " ".join(["env", f"PYTHONPATH={ROOT}", *words])


def project(root: Path, start: str, requests: int = 60, **more: str) -> Path:
    root.mkdir(parents=True, exist_ok=True)
    (root / "test_one.py").write_text("def test_one():\n    assert True\n")
    (root / "pyproject.toml").write_text(
        '[tool.whet]\nagents = ["test-executor", "api-contract-validator", "test-data-architect"]\nminutes = 2.0\n'
        f'seed = 3\n[tool.whet.api]\ndocument = "/openapi.json"\nstart = "{start}"\nrequests = {requests}\n'
        'headers = { X-Api-Key = "env:LIBRARY_KEY" }\n' + "".join(f"{name} = {value}\n" for name, value in more.items())
    )
    return root


@contextmanager
def workplace(root: Path) -> Iterator[Workplace]:
    site = open_site(root, python=sys.executable)
    with site.store() as store, Suite(site.project, site.python) as suite:
        yield assembly.workplace(site, store, suite, 3, lambda _event: None)
