"""What is tried next: kinds of mutation that pay are tried elsewhere, barren ones fade, credit stays small."""

from collections import Counter

import numpy as np
import pytest
from tests.skills.api.small_service import contract, does

from whet.skills.api.contract.model import Operation
from whet.skills.api.learning.novelty import News
from whet.skills.api.learning.sequencing import Sequencing, Step

CONTRACT = contract({f"/{name}": {"get": does("200")} for name in "abcdefghijkl"})
FAMILIES = {f"{family}-{number}": family for family in ("texts", "numbers", "heads") for number in range(8)}
ALL = CONTRACT.operations
NOTHING, NEW_STATUS, NEW_FAULT = (
    News(False, False, False, False),
    News(False, True, True, False),
    News(True, True, False, True),
)


def sequencing(seed: int = 0, learn: bool = True, reached: bool = True, learn_kinds: bool = True) -> Sequencing:
    made = Sequencing(ALL, FAMILIES, np.random.default_rng(seed), learn, learn_kinds)
    if reached:
        for operation in ALL:
            saw(made, Step(operation, None), 201, NEW_STATUS)
    return made


def saw(made: Sequencing, step: Step, status: int, news: News = NOTHING) -> None:
    made.tell(step, status, news)
    made.saw(step.operation.id, status)


def walked(made: Sequencing, turns: int, answers: dict[str, int]) -> list[Step]:
    """A world in which these kinds are answered so, and others like valid requests; what is answered is news once."""
    steps, met = [], {(one.id, 201) for one in ALL}
    for _ in range(turns):
        step = made.next(lambda _: True, lambda _: False)
        status = answers.get(step.kind or "", 201)
        new = (step.operation.id, status) not in met
        met.add((step.operation.id, status))
        saw(made, step, status, NOTHING if not new else NEW_FAULT if status >= 500 else NEW_STATUS)
        steps.append(step)
    return steps


def test_operations_nobody_reached_come_before_mutations() -> None:
    for seed in range(5):
        steps = walked(sequencing(seed, reached=False), len(ALL), {})
        assert sum(step.kind is None for step in steps) > 8
        assert len({step.operation.id for step in steps if step.kind is None}) > 8


def test_a_kind_that_paid_once_is_soon_tried_on_the_other_operations() -> None:
    reached = 0
    for seed in range(5):
        made = sequencing(seed)
        saw(made, Step(ALL[0], "texts-3"), 500, NEW_FAULT)
        steps = walked(made, 40, {"texts-3": 500})
        reached += len({step.operation.id for step in steps if step.kind == "texts-3"})
    assert reached >= 40  # of five times eleven


def test_a_barren_kind_fades() -> None:
    """Each kind of one family is answered with a status of its own, the others like valid requests."""
    paying = {kind: 400 + at for at, kind in enumerate(FAMILIES) if kind.startswith("numbers")}
    counts = Counter(
        (step.kind or "-").partition("-")[0] for seed in range(5) for step in walked(sequencing(seed), 120, paying)[30:]
    )
    assert counts["numbers"] > 1.5 * (counts["texts"] + counts["heads"]) / 2


def test_where_all_is_well_mutations_are_tried_all_the_same() -> None:
    """Every valid request is answered 201, and nobody has seen anything else yet."""
    for seed in range(5):
        assert sum(step.kind is not None for step in walked(sequencing(seed), 60, {})) > 10


def test_the_same_kind_is_not_tried_on_the_same_operation_for_ever() -> None:
    steps = walked(sequencing(1), 400, {})
    most = Counter((step.operation.id, step.kind) for step in steps if step.kind).most_common(1)[0][1]
    assert most <= 8


def test_what_was_kept_of_kinds_is_where_the_next_run_begins() -> None:
    before = sequencing(0)
    walked(before, 200, {"texts-3": 500})
    tried = []
    for seed in range(10):
        after = sequencing(seed + 50)
        after.kinds.restore(before.kinds.kept())
        tried += [step.kind for step in walked(after, 12, {"texts-3": 500})]
    assert tried.count("texts-3") > 3 * len(tried) / len(FAMILIES)


def test_what_an_earlier_run_tried_comes_after_what_nobody_has_tried() -> None:
    counts: Counter[str] = Counter()
    for seed in range(20):
        before, after = sequencing(0), sequencing(seed)
        for operation in ALL:
            for number in (*range(6), *range(6)):
                saw(before, Step(operation, f"texts-{number}"), 201)
        after.tried_before({**before.tried(), "GET /gone": {"texts-1": 1}, ALL[0].id: {"gone": 1, "texts-0": 9}})
        assert after.tried()[ALL[0].id]["texts-0"] == 3  # nothing is given up for good
        counts.update(one.kind for one in walked(after, 150, {}) if one.kind and one.kind.startswith("texts"))
    fresh = counts["texts-6"] + counts["texts-7"]
    assert fresh / 2 > 2 * (sum(counts.values()) - fresh) / 6  # each of the two twice as often as each of the six


def test_with_patience_a_refusal_counts_for_less() -> None:
    hasty, patient = sequencing(reached=False), sequencing(reached=False)
    hasty.tell(Step(ALL[0], None), 422, NOTHING)
    patient.tell(Step(ALL[0], None), 422, NOTHING, patience=4.0)
    assert patient.refusals(ALL[0]) == hasty.refusals(ALL[0]) / 4


def test_what_has_no_place_is_not_chosen() -> None:
    made = sequencing()
    for operation in ALL:
        made.limit(operation, ["heads-1", "heads-2"])
        made.cannot(Step(operation, "heads-2"))
    assert {step.kind for step in walked(made, 60, {})} <= {None, "heads-1"}


def test_what_is_not_ready_or_waits_comes_later() -> None:
    made = sequencing(reached=False)
    last = ALL[0]
    steps = []
    for _ in range(8):
        step = made.next(lambda one: one is not last, lambda one: one is last)
        saw(made, step, 201, NEW_STATUS)
        steps.append(step)
    assert last not in [step.operation for step in steps[:6]]


def test_what_is_not_ready_is_mutated_after_one_refusal_and_what_is_ready_after_several() -> None:
    """No use waiting: with what it needs it may never be; and half-good requests find parsers that crash."""
    first = {}
    for ready in (False, True):
        made = sequencing(reached=False)
        for operation in ALL[1:]:
            saw(made, Step(operation, None), 201, NEW_STATUS)
        for refusals in range(1, 6):
            made.next(lambda _, ready=ready: ready, lambda _: False)  # type: ignore[misc]
            saw(made, Step(ALL[0], None), 404)
            if made._mutated_worth()[0][0] > 0:
                first[ready] = refusals
                break
    assert first == {False: 1, True: 3}


def test_what_never_gets_ready_is_tried_all_the_same_before_long() -> None:
    made, missing = sequencing(reached=False), ALL[:5]
    for operation in ALL[5:]:
        saw(made, Step(operation, None), 201, NEW_STATUS)
    tried: set[str] = set()
    for _ in range(4 * len(ALL)):
        step = made.next(lambda one: one not in missing, lambda _: False)
        tried |= {step.operation.id} if step.kind is None else set()
        saw(made, step, 404 if step.kind is None else 500 + len(tried), NEW_FAULT)  # mutations pay, always
    assert tried >= {one.id for one in missing}


def test_credit_alone_makes_no_operation_worth_repeating() -> None:
    made = sequencing()
    made.credit(ALL[0].id, 1_000.0)
    made.credit("GET /unknown", 1.0)
    steps = walked(made, 200, dict.fromkeys(FAMILIES, 422))
    assert sum(step == Step(ALL[0], None) for step in steps) < 40


@pytest.mark.parametrize("learn", [True, False])
def test_the_same_seed_makes_the_same_choices(learn: bool) -> None:
    first, second = (walked(sequencing(9, learn), 100, {"texts-1": 500}) for _ in range(2))
    assert first == second
    assert first != walked(sequencing(10, learn), 100, {"texts-1": 500})


@pytest.mark.parametrize(("learn", "turns"), [(True, 100), (False, 300)])
def test_operations_and_kinds_are_switched_off_one_by_one(learn: bool, turns: int) -> None:
    """One kind fails everywhere. Whoever learns kinds sends it to all operations, however these are chosen."""

    def failed(learn_kinds: bool) -> int:
        walks = [walked(sequencing(seed, learn, True, learn_kinds), turns, {"texts-3": 500}) for seed in range(5)]
        return sum(len({step.operation.id for step in steps if step.kind == "texts-3"}) for steps in walks)

    assert failed(learn_kinds=True) > 1.5 * failed(learn_kinds=False)


def test_kinds_at_random_are_any_that_have_a_place() -> None:
    made = sequencing(learn_kinds=False)
    for operation in ALL:
        made.limit(operation, ("texts-1", "heads-2", "numbers-3"))
    kinds = Counter(step.kind for step in walked(made, 300, {"texts-1": 500}) if step.kind is not None)
    assert set(kinds) == {"texts-1", "heads-2", "numbers-3"}
    assert max(kinds.values()) < 2 * min(kinds.values())


def test_refusals_and_successes_are_remembered() -> None:
    made = sequencing(reached=False)
    one: Operation = ALL[3]
    saw(made, Step(one, None), 404)
    assert (made.worked(one), made.refusals(one)) == (False, 1.0)
    saw(made, Step(one, None), 200)
    assert made.worked(one)


TROUBLE, BOOM = -7, -8  # two ways to fail


def test_an_operation_that_failed_in_one_way_is_still_asked_for_another() -> None:
    """What stands before the service chokes on one kind, everywhere; the service itself on another."""
    reached = 0
    for seed in range(5):
        made = sequencing(seed)
        for operation in ALL:
            saw(made, Step(operation, "heads-1"), TROUBLE, NEW_FAULT)
        for operation in ALL[:4]:
            saw(made, Step(operation, "texts-3"), BOOM, NEW_FAULT)
        steps = walked(made, 60, {"heads-1": TROUBLE, "texts-3": BOOM})
        reached += len({step.operation.id for step in steps if step.kind == "texts-3"})
    assert reached >= 32  # of five times eight


def test_where_every_operation_fails_in_words_of_its_own_one_failure_is_enough() -> None:
    """ "Error in /a" and "Error in /b" say the same: nobody goes on to hear each from all."""
    again = 0
    for seed in range(5):
        made = sequencing(seed)
        for at, operation in enumerate(ALL):
            saw(made, Step(operation, "texts-3"), -100 - at, NEW_FAULT)
        for _ in range(60):
            step = made.next(lambda _: True, lambda _: False)
            saw(made, step, -100 - ALL.index(step.operation) if step.kind == "texts-3" else 201)
            again += step.kind == "texts-3"
    assert again <= 15  # of 300


def test_an_operation_that_says_the_same_to_everything_teaches_nothing_about_kinds() -> None:
    made = sequencing(reached=False)
    saw(made, Step(ALL[0], None), 501)
    for kind in FAMILIES:
        saw(made, Step(ALL[0], kind), 501)
    assert made.kinds.kept() == {}
    saw(made, Step(ALL[0], "texts-1"), 400)
    assert made.kinds.kept() == {"texts-1": {"400": 1.0}}


def test_who_failed_first_is_not_asked_again_when_a_second_shows_that_it_is_a_way_to_fail() -> None:
    made = sequencing()
    for operation in ALL[:2]:
        saw(made, Step(operation, "texts-3"), BOOM, NEW_FAULT)
    told_apart = made.kinds.column(BOOM)
    assert made._unseen[:3, told_apart].tolist() == [0.0, 0.0, 1.0]


def test_many_ways_to_fail_make_no_failure_likelier_where_nothing_was_tried() -> None:
    """Together they count as one status among others."""
    kinds = sequencing().kinds
    hoped = {}
    for ways in (1, 10):
        for way in range(ways):
            kinds.column(-100 - way)
        failing = [kinds.column(500), *(kinds.column(-100 - way) for way in range(ways))]
        hoped[ways] = np.mean([kinds._draw()[..., failing].sum(axis=-1).mean() for _ in range(200)])
    assert hoped[10] < 1.2 * hoped[1]
