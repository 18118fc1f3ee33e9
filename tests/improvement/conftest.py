import pytest


@pytest.fixture(autouse=True)
def _quick_pytest(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tiny suites need no Hypothesis; loading it would take most of their time."""
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:hypothesispytest")
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
