"""Our models and their versions in MLflow: `<project>.<agent>` is a model and an experiment, an artefact a run of the
experiment and a version of the model.

Every call may be the last before a crash. What a call makes carries the artefact's digest as a tag and is looked for
before it is made, so that adding the same again goes on where it was left.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whet.core.registries import Facts
from whet.core.text import printable
from whet.registry.mlflow_client import plain_name

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Run
    from mlflow.entities.model_registry import ModelVersion

DIGEST, PROJECT = "whet.digest", "whet.project"
FOLDER = "artefact"
_MOST_SHOWN = 100
_PAGE = 200


class Versions:
    """`files`: where runs put theirs, as an address; None leaves it to the server."""

    def __init__(self, client: "MlflowClient", project: str, files: str | None) -> None:
        self._client, self._project, self._files = client, plain_name(project), files

    def model(self, agent: str) -> str:
        return f"{self._project}.{agent}"

    def of(self, digest: str) -> "list[ModelVersion]":
        """Newest first; more than one when an earlier one was found broken."""
        found = self._found(f"tags.`{DIGEST}` = '{digest}'")
        return [each for each in found if each.tags.get(PROJECT) == self._project]

    def all(self) -> "Iterator[ModelVersion]":
        return self._found(f"tags.`{PROJECT}` = '{self._project}'")

    def _found(self, wanted: str) -> "Iterator[ModelVersion]":
        token = None
        while True:
            page = self._client.search_model_versions(wanted, _PAGE, ["version_number DESC"], token)
            yield from page
            token = page.token
            if not token:
                return

    def add(self, made: Path, digest: str, facts: Facts) -> None:
        run = self._run(digest, facts)
        self._describe(run, facts)
        self._client.log_artifacts(run.info.run_id, str(made), FOLDER)
        self._client.set_terminated(run.info.run_id)
        model = self.model(facts.agent)
        with _there_already():
            self._client.create_registered_model(model, {PROJECT: self._project})
        self._client.create_model_version(
            model,
            f"{run.info.artifact_uri}/{FOLDER}",
            run.info.run_id,
            tags=self._tags(digest),
            description=f"A {facts.kind} policy of {facts.agent}. Signed; only Whet can tell whether it is unchanged.",
        )

    def aliases(self, agent: str) -> Mapping[str, Any]:
        from mlflow.exceptions import MlflowException

        try:
            return dict(self._client.get_registered_model(self.model(agent)).aliases)
        except MlflowException as error:
            if error.error_code == "RESOURCE_DOES_NOT_EXIST":
                return {}
            raise

    def _run(self, digest: str, facts: Facts) -> "Run":
        """One that was begun for this artefact and is not yet behind a version; else a new one."""
        experiment = self._experiment(self.model(facts.agent))
        behind = {each.run_id for each in self.of(digest)}
        for run in self._client.search_runs([experiment], f"tags.`{DIGEST}` = '{digest}'"):
            if run.info.run_id not in behind:
                return run
        name = f"{facts.agent} {digest[:12]}"
        tags = {"whet.agent": facts.agent, "whet.kind": facts.kind, **self._tags(digest), **_lineage(facts)}
        return self._client.create_run(experiment, run_name=name, tags=tags)

    def _experiment(self, name: str) -> str:
        found = self._client.get_experiment_by_name(name)
        if found is not None:
            return str(found.experiment_id)
        with _there_already():
            return str(self._client.create_experiment(name, self._files, {PROJECT: self._project}))
        return self._experiment(name)  # another process was first

    def _describe(self, run: "Run", facts: Facts) -> None:
        """For people who look; the signed manifest has all of it. The time is the run's own, so that describing it
        again adds nothing."""
        from mlflow.entities import Metric, Param

        at = run.info.start_time
        metrics = [Metric(plain_name(name), value, at, 0) for name, value in facts.metrics.items()]
        shown = [(name, value) for name, value in facts.config.items() if isinstance(value, (str, int, float, bool))]
        parameters = [Param(plain_name(name), printable(str(value))) for name, value in shown]
        self._client.log_batch(run.info.run_id, metrics[:_MOST_SHOWN], parameters[:_MOST_SHOWN])
        self._client.log_dict(run.info.run_id, dict(facts.config), "config.json")
        self._client.log_dict(run.info.run_id, dict(facts.lineage), "lineage.json")

    def _tags(self, digest: str) -> dict[str, str]:
        return {DIGEST: digest, PROJECT: self._project}


def _lineage(facts: Facts) -> dict[str, str]:
    told = list(facts.lineage.items())[:_MOST_SHOWN]
    return {f"whet.lineage.{plain_name(name)}": printable(str(value)) for name, value in told}


@contextmanager
def _there_already() -> Iterator[None]:
    """Another process, or we before a crash, made it."""
    from mlflow.exceptions import MlflowException

    try:
        yield
    except MlflowException as error:
        if error.error_code != "RESOURCE_ALREADY_EXISTS":
            raise
