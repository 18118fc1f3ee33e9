"""`whet api`, put together: the contract from its address, the service, what is known of it, and the report."""

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from whet.bootstrap.api_document import fetched
from whet.bootstrap.api_identity import Kept, kept_of
from whet.core.errors import WhetError
from whet.core.ports import ServiceKnowledge
from whet.reports.api.composing import fault_line, group_of
from whet.reports.api.model import (
    ApiReport,
    ChangeLine,
    CurvePoint,
    EdgeLine,
    FaultLine,
    OperationLine,
    Standing,
    UntestedLine,
)
from whet.reports.api.redaction import Secrets, response_secrets
from whet.skills.api import knowledge as memory
from whet.skills.api.access import Access, Credential, split_headers
from whet.skills.api.campaign import Budget, Campaign
from whet.skills.api.combining import combined
from whet.skills.api.contract.comparing import compare
from whet.skills.api.contract.model import Contract, Operation
from whet.skills.api.contract.reading import read_contract
from whet.skills.api.explorer import EVERYTHING, Explorer, Learned
from whet.skills.api.faults import Fault
from whet.skills.api.gateway import Gateway
from whet.skills.api.oauth import ClientCredentials, token
from whet.skills.api.service import Service
from whet.tools.http.client import Client
from whet.tools.http.messages import Headers
from whet.tools.http.origin import Origin, split_address


@dataclass(frozen=True, slots=True)
class Asked:
    """What `whet api` was asked to do."""

    document: str
    url: str | None = None
    budget: Budget = field(default_factory=Budget)
    headers: Headers = ()
    credentials: tuple[Credential, ...] = ()
    oauth2: ClientCredentials | None = None
    seed: int | None = None
    only: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    safe: bool = False
    per_second: float | None = None
    timeout_seconds: float = 10.0
    fresh: bool = False  # what earlier runs learned is not used, and gives way to what this one learns
    learned: Learned = EVERYTHING


@dataclass(slots=True)
class Visit:
    """One run on one service, from the contract to the report."""

    asked: Asked
    contract: Contract
    origin: Origin
    base_path: str
    operations: tuple[Operation, ...]
    left_out: tuple[UntestedLine, ...]
    access: Access
    client: Client
    campaign: Campaign
    explorer: Explorer
    before: memory.Knowledge
    seed: int
    kept: Kept | None  # what the store had at the start
    gateway: Gateway

    def remember(self, store: ServiceKnowledge) -> None:
        """Faults that were fixed are let go; those not looked at again are kept. What others learned meanwhile too."""
        faults = [*self.campaign.faults, *self.campaign.not_retested]
        mine = memory.learned(self.explorer, self.before, self.contract, faults)
        handed_out = [text for fault in faults for step in fault.steps for text in response_secrets(step.response)]
        hide = self._secrets().with_values(handed_out).text

        def combine(now: str | None) -> str:
            alone = now is None or (self.kept is not None and now == self.kept.text)
            return memory.written(mine if alone else combined(memory.read(now), self.before, mine), hide)

        store.update(self.key(store), combine)

    def key(self, store: ServiceKnowledge) -> str:
        """Where this service's knowledge belongs by now: another service may have come to the name meanwhile."""
        return kept_of(store, self.origin, self.base_path, self.contract).key

    def report(self, interrupted: bool = False) -> ApiReport:
        campaign, secrets = self.campaign, self._secrets()
        changes = tuple(self._changes())  # may add a note
        report = ApiReport(
            title=self.contract.title,
            base_url=str(self.origin) + self.base_path,
            seed=self.seed,
            requests=campaign.progress()[0],
            budget_requests=self.asked.budget.requests,
            seconds=campaign.seconds,
            operations=tuple(self._lines()),
            faults=tuple(self._faults(secrets)),
            edges=tuple(self._edges()),
            changes=changes,
            curve=tuple(CurvePoint(*point) for point in campaign.curve),
            notes=tuple(
                filter(
                    None,
                    (
                        *self.contract.notes,
                        *campaign.notes,
                        self.gateway.note(),
                        self._shut_out() or self._locked_out(),
                    ),
                )
            ),
            untested=self._untested(),
            document=self.asked.document,
            interrupted=interrupted,
            earlier_runs=self.before.runs,
        )
        return secrets.hidden_in(report)

    def _locked_out(self) -> str | None:
        """A service that lets nobody in has shown next to nothing."""
        answers = sum((told.statuses for told in self.campaign.operations.values()), Counter[str]())
        refused = answers["401"] + answers["403"]
        if 2 * refused <= answers.total():
            return None
        return f"{refused} of {answers.total()} answers were 401 or 403, so little was tested. Let it in: --auth FORM."

    def _shut_out(self) -> str | None:
        """We had been let in, and shut ourselves out."""
        lockout = self.explorer.lockouts.noticed
        if lockout is None:
            return None
        return (
            f"From request {lockout.since} on, {lockout.operations} operations that had worked were refused (401, 403) "
            f"or failed. The last write before was request {lockout.write.number}, {lockout.write.operation.id}: it "
            "may have taken our own rights away. The next run leaves it out (--fresh: it does not)."
        )

    def _secrets(self) -> Secrets:
        given = [value for _, value in self.asked.headers]
        own = (self.asked.oauth2.client_secret,) if self.asked.oauth2 else ()
        names = [*(name for name, _ in self.asked.headers), *(one.name for one in self.access.given)]
        return Secrets((*self.access.secrets(), *given, *own), names)

    def _lines(self) -> list[OperationLine]:
        told = self.campaign.operations
        return [
            OperationLine(one.id, sum(told[one.id].statuses.values()), told[one.id].statuses, told[one.id].reached_at,
                          group_of(one))
            for one in self.operations
        ]  # fmt: skip

    def _faults(self, secrets: Secrets) -> list[FaultLine]:
        before = {fault.suspicion.cause for fault in memory.remembered_faults(self.before, self.contract)}
        made: list[tuple[Fault, Standing]] = [
            (fault, "known" if fault.suspicion.cause in before else "new") for fault in self.campaign.faults
        ]
        made += [(fault, "fixed") for fault in self.campaign.fixed]
        made += [(fault, "not re-tested") for fault in self.campaign.not_retested]
        return [self._fault(fault, standing, secrets) for fault, standing in made]

    def _fault(self, fault: Fault, standing: Standing, secrets: Secrets) -> FaultLine:
        affected = self.campaign.affected(fault)
        fault = replace(fault, steps=self.access.from_the_login(fault.steps))
        return fault_line(fault, self.contract, str(self.origin), secrets, standing, affected)

    def _edges(self) -> list[EdgeLine]:
        return [
            EdgeLine(edge.kind, edge.field, edge.slot.operation, edge.slot.place, belief, tried, worked)
            for edge, belief, tried, worked in self.explorer.dependencies.edges()
        ]

    def _changes(self) -> list[ChangeLine]:
        if self.before.document is None:
            return []
        try:
            earlier = read_contract(self.before.document, "the contract of the last run")
        except WhetError as error:
            self.campaign.notes.append(f"What changed in the contract is unknown: {error}")
            return []
        changes = compare(earlier, self.contract)
        return [ChangeLine(f"{one.operation}: {one.sentence}" if one.operation else one.sentence, one.breaking)
                for one in changes]  # fmt: skip

    def _untested(self) -> tuple[UntestedLine, ...]:
        never = [one.id for one in self.operations if not self.campaign.operations[one.id].statuses]
        shut = self.explorer.lockouts.known
        why = {
            one: "access was lost after it in an earlier run; --fresh tries it again" for one in never if one in shut
        }
        why |= {
            one.id: "it writes to accounts, and none was made here: those that were there before are left alone"
            for one in self.operations
            if one.id in never and self.explorer.leaves_accounts_alone(one)
        }
        return (*self.left_out, *(UntestedLine(one, why.get(one, "the run ended before its turn")) for one in never))


def prepare(asked: Asked, store: ServiceKnowledge | None) -> Visit:
    """Everything up to the first request of exploring; errors here are about what was given."""
    origin, base, contract, client = _reached(asked)
    operations, left_out = _in_scope(contract, asked)
    headers, credentials = split_headers(contract, asked.headers)
    tokens = (token(client, contract, asked.oauth2),) if asked.oauth2 else ()
    seed = asked.seed if asked.seed is not None else random.SystemRandom().randrange(2**31)
    access = Access(contract, (*asked.credentials, *credentials, *tokens), seed)
    service = Service(client, access, base, asked.per_second, headers, patience_seconds=asked.budget.back_seconds)
    explorer = Explorer(contract, operations, service.send, seed, asked.learned)
    kept = kept_of(store, origin, base, contract) if store is not None else None
    before = memory.read(kept.text if kept is not None and not asked.fresh else None)
    memory.teach(explorer, before, contract)
    known = memory.remembered_faults(before, contract)
    campaign = Campaign(contract, operations, service, explorer, asked.budget, known)
    explorer.hears(access.listen)
    explorer.keep(access.own_names)
    if kept is not None and kept.note is not None and not asked.fresh:
        campaign.notes.append(kept.note)
    return Visit(
        asked, contract, origin, base, operations, left_out, access, client, campaign, explorer, before, seed, kept,
        service.gateway,
    )  # fmt: skip


def _reached(asked: Asked) -> tuple[Origin, str, Contract, Client]:
    given = split_address(asked.url) if asked.url else None
    contract, origin = _read(asked, given[0] if given else None)
    target = given or (origin, contract.base_path)
    client = Client(target[0], asked.timeout_seconds)
    if not client.answers():
        raise WhetError(f"Nothing answers at {target[0]}.", "Start the service, or give its address with --url.")
    return target[0], target[1], contract, client


def _read(asked: Asked, tested: Origin | None) -> tuple[Contract, Origin]:
    """The contract, and the origin that may be tested. Credentials are for that origin alone."""
    if asked.document.startswith(("http://", "https://")):
        origin, _ = split_address(asked.document)
        ours = tested in (None, origin)
        carried = (asked.headers, asked.credentials) if ours else ((), ())
        text, where = fetched(asked.document, asked.timeout_seconds, *carried)
        return read_contract(text, where), tested or origin
    contract = read_contract(Path(asked.document))
    if tested is None:
        raise WhetError(
            "A contract from a file does not say which service may be tested.",
            "Add --url, for example --url http://127.0.0.1:8000.",
        )
    return contract, tested


def _in_scope(contract: Contract, asked: Asked) -> tuple[tuple[Operation, ...], tuple[UntestedLine, ...]]:
    kept: list[Operation] = []
    left: list[UntestedLine] = []
    for operation in contract.operations:
        why = _why_not(operation, asked)
        if why is None:
            kept.append(operation)
        else:
            left.append(UntestedLine(operation.id, why))
    if not kept:
        raise WhetError("No operation is left to test.", "Loosen --only, --exclude or --safe.")
    return tuple(kept), tuple(left)


def _why_not(operation: Operation, asked: Asked) -> str | None:
    if asked.only and not _named(operation, asked.only):
        return "not among --only"
    if _named(operation, asked.exclude):
        return "--exclude"
    return "--safe leaves out DELETE" if asked.safe and operation.method == "DELETE" else None


def _named(operation: Operation, wanted: Sequence[str]) -> bool:
    """A part of "METHOD /path", an operationId or a tag."""
    return any(one in operation.id or one == operation.name or one in operation.tags for one in wanted)
