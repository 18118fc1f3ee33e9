"""The client: one method per route, typed both ways."""

import time
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Final, Literal, Self, TypeVar

import httpx
from pydantic import BaseModel

from whet.client import wire
from whet.core.candidates import Candidate
from whet.core.errors import WhetError
from whet.core.ports import AuditEntry
from whet.core.records import Outcome, Record, Reward, State

R = TypeVar("R", bound=BaseModel)
Given = Mapping[str, Any]
_REFUSED_FOR_NOW: Final = (429, 503)
_LONGEST_WAIT_SECONDS: Final = 5.0


class ServiceError(WhetError):
    """The service said no. `status` is HTTP's; the remedy is the service's own."""

    def __init__(self, status: int, problem: str, remedy: str | None) -> None:
        super().__init__(problem, remedy)
        self.status = status


class Client:
    """Threads may share one. What was refused for now is asked for again, `tries` times in all."""

    def __init__(self, url: str, key: str, timeout_seconds: float = 30.0, tries: int = 4) -> None:
        self._tries = tries
        self._http = httpx.Client(
            base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=timeout_seconds, trust_env=False
        )

    def predict(self, agent: str, state: State | Given, run: str | None = None, keep: bool = False) -> wire.Prediction:
        body = {"agent": agent, "state": _plain(state), "run": run, "keep": keep}
        return self._post("/predict", body, wire.Prediction)

    def begin_run(self, budget_seconds: float = 0.0, code_version: str | None = None) -> str:
        body = {"budget_seconds": budget_seconds, "code_version": code_version}
        return self._post("/api/v1/runs", body, wire.Begun).run

    def finish_run(self, run: str, status: Literal["finished", "interrupted"] = "finished") -> None:
        self._post(f"/api/v1/runs/{run}/finish", {"status": status}, wire.Begun)

    def tell(
        self, asked: wire.Prediction, outcome: Outcome | Given, next_state: State | Given | None = None
    ) -> wire.Learned:
        """What came of a decision that was kept. Telling it again changes nothing, so that it is safe to repeat."""
        body = {"agent": asked.agent, "decision": asked.decision, "outcome": _plain(outcome)}
        body |= {} if next_state is None else {"next_state": _plain(next_state)}
        return self._post("/api/v1/experiences", body, wire.Learned)

    def models(self, agent: str | None = None) -> tuple[wire.Model, ...]:
        return self._get("/model/info", {"agent": agent}, wire.Models).models

    def promote(self, candidate: int) -> Candidate:
        return self._steer(candidate, "promote", "no reason given")

    def rollback(self, candidate: int, why: str) -> Candidate:
        return self._steer(candidate, "rollback", why)

    def pause(self, candidate: int, why: str) -> Candidate:
        return self._steer(candidate, "pause", why)

    def resume(self, candidate: int, why: str) -> Candidate:
        return self._steer(candidate, "resume", why)

    def start_training(self, what: Literal["learn", "train"] = "learn", **options: Any) -> wire.Trained:
        return self._post("/api/v1/training/start", {"what": what, **options}, wire.Trained)

    def stop_training(self) -> bool:
        return self._post("/api/v1/training/stop", None, wire.Stopped).stopped

    def training(self) -> wire.TrainingStatus:
        return self._get("/api/v1/training/status", {}, wire.TrainingStatus)

    def note(self, text: str, subjects: Sequence[str] = (), agent: str | None = None) -> wire.Noted:
        body = {"text": text, "subjects": list(subjects), "agent": agent}
        return self._post("/api/v1/memory/store", body, wire.Noted)

    def recall(self, text: str, subjects: Sequence[str] = (), limit: int = 10) -> tuple[wire.Found, ...]:
        body = {"text": text, "subjects": list(subjects), "limit": limit}
        return self._post("/api/v1/memory/retrieve", body, wire.Retrieved).items

    def consolidate(self) -> wire.Consolidated:
        return self._post("/api/v1/memory/consolidate", None, wire.Consolidated)

    def reward(self, agent: str, state: State | Given, action: str, outcome: Outcome | Given) -> Reward:
        """What an outcome would be worth; nothing is kept."""
        body = {"agent": agent, "state": _plain(state), "action": action, "outcome": _plain(outcome)}
        return self._post("/api/v1/rewards/calculate", body, Reward)

    def rewards(self, agent: str | None = None, limit: int = 100) -> tuple[wire.Rewarded, ...]:
        return self._get("/api/v1/rewards/history", {"agent": agent, "limit": limit}, wire.History).items

    def runs(self) -> Iterator[wire.RunItem]:
        """Newest first, fetched part by part."""
        return self._all("/api/v1/runs", {}, wire.Part[wire.RunItem])

    def findings(self, kind: str | None = None, severity: str | None = None) -> Iterator[wire.FindingItem]:
        return self._all("/api/v1/findings", {"kind": kind, "severity": severity}, wire.Part[wire.FindingItem])

    def decisions(self, agent: str | None = None, run: str | None = None) -> Iterator[wire.DecisionItem]:
        return self._all("/api/v1/decisions", {"agent": agent, "run": run}, wire.Part[wire.DecisionItem])

    def waiting(self) -> Iterator[wire.DecisionItem]:
        """Decisions that wait for a person."""
        return self._all("/api/v1/decisions/waiting", {}, wire.Part[wire.DecisionItem])

    def decision(self, decision: str) -> wire.DecidedItem:
        return self._get(f"/api/v1/decisions/{decision}", {}, wire.DecidedItem)

    def candidates(self) -> Iterator[Candidate]:
        return self._all("/api/v1/candidates", {}, wire.Part[Candidate])

    def audit(self) -> Iterator[AuditEntry]:
        return self._all("/api/v1/audit", {}, wire.Part[AuditEntry])

    def mark(self, fingerprint: str, verdict: Literal["real", "false-alarm"] | None) -> wire.Heard:
        return self._post(f"/api/v1/findings/{fingerprint}/mark", {"verdict": verdict}, wire.Heard)

    def rate(self, run: str, stars: int) -> wire.Heard:
        return self._post(f"/api/v1/runs/{run}/rating", {"stars": stars}, wire.Heard)

    def rule(
        self, decision: str, verdict: Literal["approve", "override", "revoke"], action: str | None = None
    ) -> wire.Ruled:
        body = {"verdict": verdict} | ({} if action is None else {"action": action})
        return self._post(f"/api/v1/decisions/{decision}/ruling", body, wire.Ruled)

    def metrics(self) -> str:
        return self._asked("GET", "/metrics").text

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _steer(self, candidate: int, deed: str, why: str) -> Candidate:
        return self._post(f"/api/v1/candidates/{candidate}/{deed}", {"why": why}, Candidate)

    def _all(self, path: str, asked: Given, shape: type[wire.Part[Any]]) -> Iterator[Any]:
        before: int | None = None
        while True:
            part = self._get(path, {**asked, "before": before}, shape)
            yield from part.items
            before = part.before
            if before is None:
                return

    def _get(self, path: str, asked: Given, shape: type[R]) -> R:
        given = {name: value for name, value in asked.items() if value is not None}
        return shape.model_validate_json(self._asked("GET", path, params=given).content)

    def _post(self, path: str, body: Given | None, shape: type[R]) -> R:
        sent = {} if body is None else {"json": dict(body)}
        return shape.model_validate_json(self._asked("POST", path, **sent).content)

    def _asked(self, method: str, path: str, **sent: Any) -> httpx.Response:
        for attempt in range(1, self._tries + 1):
            try:
                response = self._http.request(method, path, **sent)
            except httpx.TransportError as error:
                raise ServiceError(0, f"{self._http.base_url} does not answer: {error}.", "Is it running?") from error
            if response.status_code not in _REFUSED_FOR_NOW or attempt == self._tries:
                break
            time.sleep(min(float(response.headers.get("retry-after", "0.5")), _LONGEST_WAIT_SECONDS))
        if response.is_success:
            return response
        raise _error(response)


def _plain(given: Record | Given) -> Any:
    return given.model_dump(mode="json") if isinstance(given, Record) else dict(given)


def _error(response: httpx.Response) -> ServiceError:
    try:
        told = response.json()
        return ServiceError(response.status_code, str(told["detail"]), told.get("remedy"))
    except (ValueError, KeyError, TypeError):
        return ServiceError(response.status_code, f"The service answered {response.status_code}.", None)
