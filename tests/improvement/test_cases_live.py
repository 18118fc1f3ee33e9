"""Against the real example service, over HTTP."""

import json
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from whet.core.errors import WhetError
from whet.improvement.cases import Case, read_cases, split
from whet.improvement.cases_environment import CaseEnvironment
from whet.improvement.cases_evaluation import Foretold, HeldOut, at_random, by_policy, foretold, in_order
from whet.improvement.cases_learner import CandidatePPO, new_learner
from whet.improvement.cases_order import beforehand, one_by_one, requests_of
from whet.improvement.cases_running import Live, Recorded, Runner, Verdict
from whet.improvement.cases_service import running_service
from whet.improvement.training import train
from whet.improvement.training_cases import CaseLesson, digest, judged, lesson_of, subject_of_cases
from whet.improvement.training_record import Order, TrainingFolder

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "cases"
SERVICE = [sys.executable, str(EXAMPLE / "service.py")]


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> list[Case]:
    file = tmp_path_factory.mktemp("cases") / "cases.json"
    subprocess.run([sys.executable, str(EXAMPLE / "generate.py"), str(file), "--seed", "3"], check=True)
    return read_cases(file)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with running_service([*SERVICE, "--seed", "3"], cwd=ROOT) as url:
        yield url


@pytest.fixture
def live(url: str) -> Iterator[Live]:
    with Live(url) as live:
        yield live


def test_without_faults_every_case_passes(cases: list[Case]) -> None:
    with running_service([*SERVICE, "--no-faults"], cwd=ROOT) as url, Live(url) as live:
        assert [case.name for case in cases if live.run(case).cause is not None] == []


def test_planted_faults_are_found_and_told_apart(cases: list[Case], live: Live) -> None:
    verdicts = [live.run(case) for case in cases]
    failed = [verdict.cause for verdict in verdicts if verdict.cause is not None]
    assert 20 <= len(failed) <= len(cases) // 4
    assert 7 <= len(set(failed)) <= 14
    assert live.requests == sum(verdict.requests for verdict in verdicts)
    assert [live.run(case) for case in cases[:40]] == verdicts[:40]


def test_a_service_leaves_no_process_behind() -> None:
    with running_service([*SERVICE, "--no-faults"], cwd=ROOT) as url, Live(url) as live:
        port = int(url.rpartition(":")[2])
        assert live.run(Case("", (), {}, "", "", None)).requests == 0
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=5)


def test_a_service_that_tells_no_address_is_named() -> None:
    command = [sys.executable, "-c", "print('no such luck')"]
    with pytest.raises(WhetError, match="told no address; it said: no such luck"), running_service(command, cwd=ROOT):
        pass


def test_an_unreachable_service_is_no_verdict(cases: list[Case]) -> None:
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        with (
            Live(f"http://127.0.0.1:{reserved.getsockname()[1]}") as live,
            pytest.raises(WhetError, match="cannot be reached"),
        ):
            live.run(cases[0])


@pytest.mark.parametrize("url", ["http://example.org:80", "https://127.0.0.1:8000", "http://127.0.0.1", "orders"])
def test_only_services_on_this_machine_are_trained_against(url: str) -> None:
    with pytest.raises(WhetError, match="training sends thousands of requests"):
        Live(url)


@contextmanager
def _answering(answer: bytes) -> Iterator[str]:
    """A service that takes every connection and says the same to each, or nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        taken = list[socket.socket]()

        def take() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                taken.append(connection)
                if answer:
                    connection.recv(4096)
                    connection.sendall(answer)
                    connection.shutdown(socket.SHUT_RDWR)

        thread = threading.Thread(target=take)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}"
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join()
            for connection in taken:
                connection.close()


def test_silence_is_a_failure_within_the_time_limit(cases: list[Case]) -> None:
    with _answering(b"") as url, Live(url, timeout_seconds=0.2) as live:
        assert (live.run(cases[0]).cause or "").endswith("no answer in time")


def test_gibberish_is_a_failure(cases: list[Case]) -> None:
    with _answering(b"gibberish\r\n\r\n") as url, Live(url) as live:
        assert (live.run(cases[0]).cause or "").endswith("no valid answer")


@pytest.mark.filterwarnings("ignore:.*Box.*")
def test_it_is_a_gymnasium_environment(cases: list[Case], live: Live) -> None:
    check_env(_Unmasked(cases, live, budget=24), skip_render_check=True)


class _Unmasked(CaseEnvironment):
    """The checker does not know of masks, and has no spec to make another one from."""


def test_a_new_cause_pays_once(cases: list[Case], live: Live) -> None:
    failing = [case for case in cases if live.run(case).cause is not None]
    environment = CaseEnvironment(failing, live, budget=60)
    environment.reset(seed=1)
    seen, ended = set[str | None](), False
    while not ended:
        mask = environment._mask()
        _, reward, ended, _, info = environment.step(np.int64(mask.argmax()))
        cause = info["verdict"].cause
        assert reward == (cause not in seen)
        seen.add(cause)
    assert environment.causes == seen
    assert environment.requests <= 60


def test_what_was_run_is_no_candidate_again(cases: list[Case], live: Live) -> None:
    environment = CaseEnvironment(cases[:10], live, budget=1000)
    _, info = environment.reset(seed=1)
    for left in range(10, 0, -1):
        assert info["action_mask"].sum() == left
        _, _, ended, _, info = environment.step(np.int64(info["action_mask"].argmax()))
    assert ended
    with pytest.raises(WhetError, match="cannot be run now"):
        environment.step(np.int64(0))


def order_for(cases: list[Case], steps: int = 256, environments: int = 2) -> Order:
    return Order(
        agent="cases", policy="ppo", seed=5, steps=steps, environments=environments, checkpoint_steps=128,
        source="made", sources=(), digest=digest(cases),
    )  # fmt: skip


def test_training_counts_refreshes_and_is_saved(cases: list[Case], live: Live, tmp_path: Path) -> None:
    training, held_out = split(cases, 1 / 3)
    order, folder = order_for(training), TrainingFolder(tmp_path)
    told = list(train(subject_of_cases(training, live, order, candidates=8), order, folder))
    assert told[-1].steps == 256
    learner = CandidatePPO.open(folder.learner)
    assert (learner.steps, learner.rollouts) == (256, 2)
    assert learner.rewards.count == 256  # rewards were normalised by what was seen live
    assert max(each.row.get("episode_reward", 0.0) for each in told) >= 1.0
    (sitting,) = by_policy(learner, held_out, live, 24, [1])
    assert 0 < sitting.requests <= 24
    critic = foretold(learner, training, held_out, live, 24, range(3), futures=2)
    assert critic.explained_variance < critic.ceiling <= 1.0
    assert critic.states > 30
    passing = [case for case in held_out[:40] if live.run(case).cause is None]
    assert np.isnan(foretold(learner, passing, passing, live, 24, [1], futures=2)[:3]).all()


def _single(cases: list[Case], outcome: str) -> list[Case]:
    return [replace(case, outcome=outcome, cause=case.name) for case in cases if len(case.steps) == 1]


def test_where_everything_fails_the_clock_foretells_it_all(cases: list[Case]) -> None:
    """Each case of one request pays 1: what is still to come follows from the requests that are left."""
    failing, learner = _single(cases, "f"), new_learner(256, seed=1, candidates=8)
    told = foretold(learner, failing, failing, Recorded(failing), 24, range(3), futures=2)
    assert told.by_budget_alone == pytest.approx(1.0, abs=0.01)
    assert told.ceiling == pytest.approx(1.0)
    assert told.explained_variance < 0.9
    assert told.beyond_budget < 0.0  # an untrained critic knows less than the clock


def test_the_budgets_curve_is_of_the_cases_trained_on(cases: list[Case]) -> None:
    passing, failing = _single(cases[:100], "p"), _single(cases[100:], "f")
    learner = new_learner(256, seed=1, candidates=8)
    told = foretold(learner, passing, failing, Recorded(passing + failing), 24, range(3), futures=2)
    assert told.by_budget_alone == pytest.approx(0.0)  # nothing was found there, at any hour


def test_what_is_explained_beyond_the_budget_is_of_what_it_leaves() -> None:
    told = Foretold(explained_variance=0.9, ceiling=0.95, by_budget_alone=0.8, states=10)
    assert told.beyond_budget == pytest.approx(0.5)
    assert told.ceiling_beyond_budget == pytest.approx(0.75)
    assert np.isnan(told._replace(by_budget_alone=1.0).beyond_budget)


def test_interrupted_training_goes_on_to_the_same_result(cases: list[Case], live: Live, tmp_path: Path) -> None:
    order = order_for(cases)
    subject = subject_of_cases(cases, live, order, candidates=8)
    whole, parts = TrainingFolder(tmp_path / "whole"), TrainingFolder(tmp_path / "parts")
    rows = [each.row for each in train(subject, order, whole)]
    interrupted = train(subject, order, parts)
    while next(interrupted).steps <= order.checkpoint_steps:
        """Into the second chapter."""
    interrupted.close()
    list(train(subject, order, parts, resume=True))
    assert whole.rows() == parts.rows() == rows


def test_where_nothing_fails_training_tells_what_it_could_measure(cases: list[Case], tmp_path: Path) -> None:
    """Sittings of one request that never pay: there is no variance to explain. Unknown, and no reason to stop."""
    short = [case for case in cases if len(case.steps) == 1]
    with running_service([*SERVICE, "--no-faults"], cwd=ROOT) as url, Live(url) as live:
        order, folder = order_for(short), TrainingFolder(tmp_path)
        list(train(subject_of_cases(short, live, order, budget=1, candidates=8), order, folder))
    assert all("explained_variance" not in row for row in folder.rows())
    assert {row["episode_reward"] for row in folder.rows() if "episode_reward" in row} == {0.0}


def _suspicious(cases: list[Case]) -> list[Case]:
    """Of one request each; whatever is negative fails."""
    single = [case for case in cases if len(case.steps) == 1]
    return [replace(case, outcome="f" if "negative" in case.name else "p", cause=case.name) for case in single]


@pytest.fixture(scope="module")
def learned(cases: list[Case], tmp_path_factory: pytest.TempPathFactory) -> tuple[CaseLesson, TrainingFolder]:
    lesson, folder = lesson_of(_suspicious(cases), None), TrainingFolder(tmp_path_factory.mktemp("learned"))
    order = order_for(lesson.training, 6144, environments=8)
    list(train(subject_of_cases(lesson.training, lesson.runner, order, candidates=8), order, folder))
    return lesson, folder


def test_a_training_is_judged_on_cases_it_never_saw(learned: tuple[CaseLesson, TrainingFolder]) -> None:
    lesson, folder = learned
    seen = _Watched(lesson.runner)
    told = judged(lesson._replace(runner=seen), folder)
    assert told is not None
    assert seen.cases <= {case.key for case in lesson.held_out}
    assert told.requests == seen.requests <= 41 * 24
    assert (told.better_than_random, told.policy > 2 * told.random) == (True, True)
    assert told.file_order == in_order(lesson.held_out, lesson.runner, 24).causes / 24
    assert json.loads((folder.path / "held_out.json").read_text()) == told._asdict()
    assert judged(lesson._replace(held_out=[]), folder) is None


def test_a_choice_is_not_called_better_within_the_interval_of_chance() -> None:
    told = HeldOut(9, 99, 0.3, 0.2, 0.2, more_than_random=0.1, more_than_random_half_width=0.11)
    assert not told.better_than_random
    assert told._replace(more_than_random_half_width=0.09).better_than_random
    assert not told._replace(more_than_random=-0.1, more_than_random_half_width=0.01).better_than_random


class _Watched:
    def __init__(self, runner: Runner) -> None:
        self._runner, self.cases, self.requests = runner, set[str](), 0

    def run(self, case: Case) -> Verdict:
        verdict = self._runner.run(case)
        self.cases.add(case.key)
        self.requests += verdict.requests
        return verdict


def test_training_without_outcomes_and_without_a_service_is_refused(cases: list[Case]) -> None:
    with pytest.raises(WhetError, match="would be invented"):
        lesson_of(cases, None)


def test_every_case_is_placed_once_and_the_likeliest_first(learned: tuple[CaseLesson, TrainingFolder]) -> None:
    (_, held_out, runner), folder = learned
    learner = CandidatePPO.open(folder.learner)
    failing = sum(case.failure is not None for case in held_out)
    chance = failing * 2 * failing / len(held_out)
    placed = beforehand(learner, held_out)
    live = [each.case for each in one_by_one(learner, held_out, runner, requests_of(held_out))]
    for order in (placed, live):
        assert sorted(case.key for case in order) == sorted(case.key for case in held_out)
        assert sum(case.failure is not None for case in order[: 2 * failing]) > 2 * chance
    assert len(list(one_by_one(learner, held_out, runner, requests=5))) == 5


def test_recorded_outcomes_are_learned_from(cases: list[Case], tmp_path: Path) -> None:
    """Whatever asks for a limit of zero fails: found again among cases it never saw, oftener than by chance."""
    records = [
        {"test_name": case.name, "steps": case.words, "preconditions": case.preconditions,
         "comment": case.name, "status": "failed" if re.search("(limit|price) zero", case.name) else "passed"}
        for case in cases if len(case.steps) == 1
    ]  # fmt: skip
    (tmp_path / "known.json").write_text(json.dumps(records))
    training, held_out = split(read_cases(tmp_path / "known.json"), 1 / 2)
    order, folder = order_for(training, 3072, environments=8), TrainingFolder(tmp_path / "ppo")
    list(train(subject_of_cases(training, Recorded(training), order, candidates=8), order, folder))
    learner, runner = CandidatePPO.open(folder.learner), Recorded(held_out)
    found = np.mean([each.causes for each in by_policy(learner, held_out, runner, 24, range(20))])
    chance = np.mean([each.causes for each in at_random(held_out, runner, 24, range(20))])
    assert found > 2.5 * chance
    assert in_order(held_out, runner, 24).requests <= 24
