"""The registry in MLflow: on its database, and on its server."""

from pathlib import Path

import pytest
from tests.registry.conftest import mlflow_subject

from whet.checks import registry as contract
from whet.checks import registry_harm as harm
from whet.checks.registry import Check, aliases_point_where_they_were_told, what_was_kept_comes_back

# A server is slower; what differs there is carrying files and naming them.
_ON_A_SERVER = [what_was_kept_comes_back, aliases_point_where_they_were_told]
_HARMS_ON_A_SERVER = [harm.changed, harm.added, harm.linked, harm.unsigned]


def _name(check: Check) -> str:
    return check.__name__


@pytest.mark.parametrize("check", [*contract.CHECKS, *harm.CHECKS], ids=_name)
def test_contract_on_the_database(check: Check, mlflow_state: Path, tmp_path: Path) -> None:
    files = mlflow_state / "mlflow-artefacts"
    check(mlflow_subject("mlflow", mlflow_state, files, check.__name__), tmp_path / "policies")


@pytest.mark.parametrize("check", _ON_A_SERVER, ids=_name)
def test_contract_on_a_server(check: Check, mlflow_server: tuple[str, Path], tmp_path: Path) -> None:
    address, files = mlflow_server
    check(mlflow_subject(address, tmp_path / ".whet", files, check.__name__), tmp_path / "policies")


def test_harm_on_a_server(mlflow_server: tuple[str, Path], tmp_path: Path) -> None:
    address, files = mlflow_server
    harm.refused_by_name(mlflow_subject(address, tmp_path / ".whet", files, "harmed"), tmp_path, _HARMS_ON_A_SERVER)
