"""Deciding for programs: the same policies, gate and standing words as a visit's, without waiting for the store.

What a decision is made from is looked at once a second: when the audit trail has moved on, everything at hand is let
go of and read again. Who decides (settings, canary, production) is one object that is exchanged as a whole, so that a
request during a promotion is answered by the one before or the one after, and by nobody in between.
"""

import dataclasses
import logging
import random
import threading
import time
from functools import cached_property
from typing import Final

from starlette.concurrency import run_in_threadpool

from whet.agents.catalogue import AnyAgent
from whet.bootstrap.assembly import MODELS, new_seed, shelf
from whet.bootstrap.candidates import opener, registry
from whet.bootstrap.site import Site
from whet.core.candidates import SINGULAR, Candidate
from whet.core.errors import WhetError
from whet.core.ports import Choice, Policy, PolicySource
from whet.core.records import Decision, State
from whet.core.registries import Registry
from whet.fleet.gate import Gate
from whet.improvement.rollout.source import CandidatePolicy
from whet.service.logs import LOGGER
from whet.service.predicting_memory import AtHand, NotAtHand, TablesAtHand, reading, ruling_at_hand
from whet.service.predicting_standing import InLine, Standing
from whet.store.sql_store import SqlStore

LOOK_SECONDS: Final = 1.0


class Predicting:
    def __init__(self, site: Site, store: SqlStore) -> None:
        self._site, self._store = site, store
        self._tables = TablesAtHand(store.tables)
        self._base = self._settings_choose()
        self._opened: dict[tuple[int, str], Policy] = {}
        self._candidates: list[Candidate] | None = None
        self._head: int | None = None
        self._source: PolicySource = self._base
        self._looked = float("-inf")
        self._changes = 0
        self._lock = threading.Lock()
        confidence = site.settings.confidence
        self._gate = Gate(confidence.review_below, confidence.review_hiding_below)
        self._draw = random.SystemRandom()

    async def decide(self, agent: AnyAgent, state: State, run_id: str) -> Decision:
        if time.monotonic() - self._looked > LOOK_SECONDS:
            await run_in_threadpool(self.look)
        try:
            return self._decide(agent, state, run_id)
        except NotAtHand:
            return await run_in_threadpool(self._read_and_decide, agent, state, run_id)

    def look(self) -> None:
        """Whether anything has changed. One looks; the others go on with what is at hand."""
        if not self._lock.acquire(blocking=False):
            return
        try:
            changes, newest = self._changes, self._store.views.head()
            if newest != self._head or self._tables.now.full():
                self._site.obey(self._store.feedback.rules())
                self._exchange_source()
                self._tables.now, self._head = AtHand(), newest
            # What changed while we looked may not have been seen.
            self._looked = time.monotonic() if changes == self._changes else float("-inf")
        finally:
            self._lock.release()

    def forget(self) -> None:
        """Look again at once: something was changed through this process."""
        self._changes += 1
        self._looked = float("-inf")

    def policy_for(self, agent: str, unit: str) -> Policy:
        return self._source.policy_for(agent, unit)

    def close(self) -> None:
        if "_registry" in vars(self):
            self._registry.close()

    @cached_property
    def _registry(self) -> Registry:
        """Only where there are candidates; open as long as their policies are."""
        return registry(self._site)

    def _read_and_decide(self, agent: AnyAgent, state: State, run_id: str) -> Decision:
        with reading():
            return self._decide(agent, state, run_id)

    def _decide(self, agent: AnyAgent, state: State, run_id: str) -> Decision:
        now = self._tables.now
        allowed, state_key = agent.allowed(state), state.key()
        policy = self._source.policy_for(agent.name, run_id)
        key = (policy, state.model_dump_json())
        if key not in now.choices:
            now.choices[key] = policy.choose(state, allowed)
        return self._gate.decide(
            run_id=run_id,
            agent=agent.name,
            state_key=state_key,
            policy=policy.name,
            choice=self._drawn(now.choices[key]),
            allowed=allowed,
            default=agent.safe_default(state),
            ruling=ruling_at_hand(now, self._store, agent.name, state_key),
        )

    def _drawn(self, choice: Choice) -> Choice:
        """Drawn anew from the same probabilities: what a policy thinks is kept, its luck is not."""
        weighed = choice.alternatives
        taken = self._draw.choices(weighed, [each.probability for each in weighed])[0]
        known = [each.value for each in weighed if each.value is not None]
        explored = choice.explored if not known else taken.value is None or taken.value < max(known)
        return choice.model_copy(update={"action": taken.action, "explored": explored})

    def _exchange_source(self) -> None:
        found = self._store.candidates.all()
        if found != self._candidates:
            self._source, self._candidates = Standing(self._base, self._in_line(found)), found

    def _in_line(self, found: list[Candidate]) -> list[InLine]:
        """Those that may decide, opened before anybody needs them. Lines of settings are people's, and stay."""
        explicit, line = self._site.settings.policies, []
        for candidate in found:
            if candidate.stage in SINGULAR and candidate.agent not in explicit:
                try:
                    line.append(InLine(candidate, self._open(candidate)))
                except (WhetError, OSError) as error:
                    told = f"Candidate {candidate.number} does not decide for {candidate.agent}, though it should"
                    logging.getLogger(LOGGER).warning("%s: %s", told, error)
        return line

    def _open(self, candidate: Candidate) -> Policy:
        """Files never change, so what was opened once is kept."""
        key = (candidate.number, candidate.artefact)
        if key not in self._opened:
            opened = opener(self._site, self._registry, new_seed(self._site.settings))(candidate)
            self._opened[key] = CandidatePolicy(candidate, opened)
        return self._opened[key]

    def _settings_choose(self) -> PolicySource:
        settings = self._site.settings
        made = shelf(settings, self._store, new_seed(settings), self._site.state_dir / MODELS)
        return dataclasses.replace(made, tables=self._tables)
