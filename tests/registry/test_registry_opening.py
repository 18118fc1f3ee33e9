"""One line of settings chooses the registry; MLflow is not touched unless the line asks for it."""

import subprocess
import sys
from pathlib import Path

import pytest

from whet.core.errors import WhetError
from whet.registry.opening import opened
from whet.registry.plain import PlainRegistry

KEY = b"k" * 32
_WITHOUT_MLFLOW = """
from importlib import machinery
found = machinery.PathFinder.find_spec.__func__

def find_spec(cls, name, path=None, target=None):
    return None if name.partition(".")[0] == "mlflow" else found(cls, name, path, target)

machinery.PathFinder.find_spec = classmethod(find_spec)
"""
_PLAIN = """
import sys
from pathlib import Path
from whet.checks.registry_samples import facts, policy
from whet.registry.opening import opened
folder = Path(sys.argv[1])
with opened("plain", folder / ".whet", b"k" * 32, "shop") as registry:
    registry.open(registry.keep(policy(folder, "one"), facts()))
print([name for name in ("mlflow", "sqlalchemy", "numpy") if name in sys.modules])
"""
_MLFLOW = """
import sys
from pathlib import Path
from whet.core.errors import MissingTool
from whet.registry.opening import opened
try:
    opened("mlflow", Path(sys.argv[1]), b"k" * 32, "shop")
except MissingTool as error:
    print(error)
"""


def _python(code: str, folder: Path) -> str:
    command = [sys.executable, "-c", code, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_plain_needs_nothing_of_mlflow(tmp_path: Path) -> None:
    assert _python(_WITHOUT_MLFLOW + _PLAIN, tmp_path) == "[]"


def test_a_missing_extra_is_named(tmp_path: Path) -> None:
    told = _python(_WITHOUT_MLFLOW + _MLFLOW, tmp_path)
    assert told == (
        "Keeping policies in MLflow needs mlflow-skinny, which is not installed. Run pip install 'whet[mlflow]'."
    )
    assert list(tmp_path.iterdir()) == []


def test_plain_keeps_below_the_state_folder(tmp_path: Path) -> None:
    registry = opened("plain", tmp_path, KEY, "shop")
    assert isinstance(registry, PlainRegistry)
    assert registry.digests() == []


@pytest.mark.parametrize("line", ["", "Plain", "ftp://host", "http://", "http://host:99999", "http://[", "databricks"])
def test_other_lines_are_refused(line: str, tmp_path: Path) -> None:
    with pytest.raises(WhetError, match=r'is no registry\. Write registry = "plain"'):
        opened(line, tmp_path, KEY, "shop")


def test_a_password_in_the_address_is_refused_and_not_repeated(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match="MLFLOW_TRACKING_PASSWORD") as refusal:
        opened("https://me:secret@mlflow.example", tmp_path, KEY, "shop")
    assert "secret" not in str(refusal.value)
