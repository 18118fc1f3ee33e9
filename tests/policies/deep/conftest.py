import pytest


@pytest.fixture(autouse=True, scope="session")
def _one_thread() -> None:
    """The networks here are tiny: on a busy machine, threads would mostly wait for each other."""
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)
