"""The project's own service, as agents see it: started for a test within a plan, and ended."""

import os
import shlex
from collections.abc import Iterator, Set
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from whet.bootstrap.api import Asked, Visit, prepare
from whet.bootstrap.serving_results import Watch, known_of, run_of
from whet.bootstrap.site import Site, make_state_dir
from whet.core.errors import WhetError
from whet.core.ports import ServiceKnowledge
from whet.core.services import Heard, ServicePlan, ServiceRun, ServiceStanding
from whet.reports.api.html import render_html
from whet.settings.api import Api
from whet.skills.api import knowledge as memory
from whet.skills.api.access import parse_credential, secret
from whet.skills.api.campaign import Budget
from whet.skills.api.contract.changes import Change
from whet.skills.api.contract.comparing import compare
from whet.skills.api.contract.model import Contract
from whet.skills.api.contract.reading import read_contract
from whet.skills.api.oauth import parse_client
from whet.skills.api.values.slots import Source
from whet.tools.environment import environment
from whet.tools.http.messages import Headers
from whet.tools.http.origin import split_address
from whet.tools.process import Limits
from whet.tools.served import Command, Served, served

PAGE = "api.html"
_REFERENCE = "env:"
_CLIENT = "oauth2:"
# Starting and ending take time of their own, which is not the plan's.
_AROUND_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class _Met:
    """What stays the same for the whole run of the fleet: the contract, and how it differs from the last run's."""

    contract: Contract
    operations: frozenset[str]
    key: str
    changes: tuple[Change, ...]

    @property
    def changed(self) -> frozenset[str]:
        return frozenset(one.operation for one in self.changes) & self.operations


class ProjectService:
    """`[tool.whet.api]` at work. What kept it from starting once is not tried again in the same run."""

    def __init__(self, site: Site, knowledge: ServiceKnowledge, seed: int, memory_mb: float) -> None:
        self._site, self._knowledge, self._seed, self._memory_mb = site, knowledge, seed, memory_mb
        self._met: _Met | None = None
        self._trouble: WhetError | None = None
        self._tests = 0

    @property
    def requests(self) -> int:
        return self._settings.requests

    def obstacle(self) -> str | None:
        api = self._settings
        if api.document is None or api.start is None:
            return "[tool.whet.api] needs both: `document`, the OpenAPI document, and `start`, what starts the service."
        if not api.document.startswith("/") and not (self._root / api.document).is_file():
            return f"`document` of [tool.whet.api] is {api.document}, which is not a file in {self._root}."
        unset = [name for name in _secrets(api) if name not in os.environ]
        return f"[tool.whet.api] needs {unset[0]} in the environment: export {unset[0]}=…" if unset else None

    def standing(self) -> ServiceStanding:
        met = self._meet()
        before = memory.read(self._knowledge.load(met.key))
        return known_of(before, met.contract, met.operations, met.changed, met.changes)

    def test(self, plan: ServicePlan, hear: Heard) -> ServiceRun:
        met = self._meet()
        self._tests += 1
        with self._served(plan.seconds) as service, self._visit(service.address, plan) as visit:
            watch = Watch(visit, hear)
            bind(visit, plan, met.changed)
            _carry_out(visit, plan, watch)
            visit.remember(self._knowledge)
            report = visit.report()
            make_state_dir(self._site.state_dir)  # a suite may have deleted it
            (self._site.state_dir / PAGE).write_text(render_html(report), encoding="utf-8")
            return run_of(visit, report, watch, service, str(self._settings.start))

    def _meet(self) -> _Met:
        if self._trouble is not None:
            raise self._trouble
        if self._met is None:
            try:
                self._met = self._first_look()
            except WhetError as error:
                self._trouble = error
                raise
        return self._met

    def _first_look(self) -> _Met:
        with self._served(self._settings.ready_seconds) as service, self._visit(service.address) as visit:
            operations = frozenset(one.id for one in visit.operations)
            return _Met(visit.contract, operations, visit.key(self._knowledge), _changes(visit))

    @contextmanager
    def _served(self, seconds: float) -> Iterator[Served]:
        api, obstacle = self._settings, self.obstacle()
        if api.start is None or obstacle is not None:
            raise WhetError(obstacle or "There is no service to start.")
        limits = Limits(timeout_seconds=seconds + api.ready_seconds + _AROUND_SECONDS, memory_mb=self._memory_mb)
        words, env = shlex.split(api.start), environment(self._site.python)
        with served(Command(words, api.url, self._root, limits, env, api.ready_seconds)) as service:
            yield service

    @contextmanager
    def _visit(self, address: str, plan: ServicePlan | None = None) -> Iterator[Visit]:
        visit = prepare(self._asked(address, plan), self._knowledge)
        try:
            yield visit
        finally:
            visit.client.close()

    def _asked(self, address: str, plan: ServicePlan | None) -> Asked:
        api = self._settings
        document, url = _placed(api, self._root, address)
        budget = Budget(1) if plan is None else Budget(plan.requests, plan.seconds, api.ready_seconds)
        return Asked(
            document=document,
            url=url,
            budget=budget,
            headers=_headers(api),
            credentials=tuple(parse_credential(one) for one in api.auth if not one.startswith(_CLIENT)),
            oauth2=next((parse_client(one) for one in api.auth if one.startswith(_CLIENT)), None),
            seed=self._seed + self._tests,
            only=api.only,
            exclude=api.exclude,
            safe=api.safe,
        )

    @property
    def _settings(self) -> Api:
        return self._site.settings.api

    @property
    def _root(self) -> Path:
        return self._site.project.root


def _placed(api: Api, root: Path, address: str) -> tuple[str, str | None]:
    """The document's address or file, and the service's where the document does not lead to it."""
    origin, path = split_address(address)
    if api.document is not None and api.document.startswith("/"):
        return f"{origin}{api.document}", address if path else None
    return str(root / str(api.document)), address


def _secrets(api: Api) -> list[str]:
    """The variables of the environment that hold them."""
    given = (*api.auth, *(value for value in api.headers.values() if value.startswith(_REFERENCE)))
    return [one.rpartition(_REFERENCE)[2] for one in given]


def _headers(api: Api) -> Headers:
    return tuple((name, secret(value)) for name, value in api.headers.items())


def bind(visit: Visit, plan: ServicePlan, changed: Set[str]) -> None:
    """Keep the explorer to the plan: which operations get broken requests, which source of values is preferred."""
    for operation in visit.operations:
        if plan.mutate == "none" or (plan.mutate == "changed" and operation.id not in changed):
            visit.explorer.sequencing.limit(operation, ())
    visit.explorer.sources.preferred = None if plan.lean_on is None else Source(plan.lean_on)


def _carry_out(visit: Visit, plan: ServicePlan, watch: Watch) -> None:
    if plan.retest_only:
        visit.campaign.retest()
        watch.tell()
    else:
        for _ in visit.campaign.turns():
            watch.tell()
    visit.campaign.conclude()


def _changes(visit: Visit) -> tuple[Change, ...]:
    if visit.before.document is None:
        return ()
    try:
        earlier = read_contract(visit.before.document, "the contract of the last run")
    except WhetError:  # kept by another version of Whet, whose reading was more lenient
        return ()
    return tuple(compare(earlier, visit.contract))
