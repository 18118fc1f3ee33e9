"""The next world is where most is being learned."""

from pathlib import Path

import numpy as np
import pytest
from benchmarks.curriculum import visits

from whet.core.errors import RefusedInput
from whet.improvement.curriculum import Curriculum


def curriculum(**scores: list[float]) -> Curriculum:
    made = Curriculum(tuple(scores), seed=5, window=3, exploring=0.2)
    for task, found in scores.items():
        for score in found:
            made.observe(task, score)
    return made


def test_progress_by_hand() -> None:
    """Later 0.6, earlier 0.2, no spread: 0.4. With a spread, less its standard error √((0.01 + 0.01) / 3)."""
    steady = curriculum(up=[0.2] * 3 + [0.6] * 3, down=[0.6] * 3 + [0.2] * 3, same=[0.5] * 6, new=[])
    assert [steady.progress(task) for task in steady.tasks] == pytest.approx([0.4, 0.4, 0.0, 0.0])
    noisy = curriculum(up=[0.1, 0.2, 0.3, 0.5, 0.6, 0.7], chance=[0.0, 1.0, 0.0, 1.0, 0.0, 1.0])
    assert noisy.progress("up") == pytest.approx(0.4 - np.sqrt(0.02 / 3))
    assert noisy.progress("chance") == 0.0


def test_only_the_last_scores_count() -> None:
    told = curriculum(task=[0.0] * 10 + [1.0] * 6)
    assert told.progress("task") == 0.0


def test_what_improves_is_practised_and_the_rest_now_and_then() -> None:
    made = curriculum(easy=[1.0] * 6, learning=[0.2] * 3 + [0.6] * 3, hard=[0.0] * 6, slow=[0.2] * 3 + [0.3] * 3)
    drawn = [made.next() for _ in range(4_000)]
    shares = [drawn.count(task) / len(drawn) for task in made.tasks]
    assert shares == pytest.approx([0.05, 0.05 + 0.8 * 0.8, 0.05, 0.05 + 0.8 * 0.2], abs=0.025)


def test_while_nothing_is_known_all_are_tried() -> None:
    made = curriculum(one=[], two=[])
    assert {made.next() for _ in range(50)} == {"one", "two"}


def test_saved_it_goes_on_with_the_same_choices(tmp_path: Path) -> None:
    made = curriculum(up=[0.1, 0.2, 0.5, 0.6], same=[0.5] * 4)
    made.observe("same", 0.9)
    made.next()
    made.save(tmp_path / "saved.json")
    opened = Curriculum(("up", "same"), seed=99, window=3, exploring=0.2)
    opened.go_on_from(tmp_path / "saved.json")
    assert opened.visits == made.visits == {"up": 4, "same": 5}
    assert [opened.next() for _ in range(50)] == [made.next() for _ in range(50)]
    with pytest.raises(RefusedInput, match="other tasks"):
        Curriculum(("up",), seed=0).go_on_from(tmp_path / "saved.json")
    (tmp_path / "saved.json").write_text((tmp_path / "saved.json").read_text()[:-9])
    with pytest.raises(RefusedInput, match="no curriculum's"):
        opened.go_on_from(tmp_path / "saved.json")


def test_nonsense_is_refused() -> None:
    with pytest.raises(RefusedInput, match="name of its own"):
        Curriculum(("same", "same"), seed=0)
    for task, score in (("stranger", 1.0), ("one", float("nan"))):
        with pytest.raises(RefusedInput, match="no score"):
            curriculum(one=[]).observe(task, score)


def test_it_opens_the_locks_sooner_than_any_order_and_the_hardest_alone_never() -> None:
    """Over ten seeds with intervals in benchmarks/curriculum.py."""
    mine, uniform = (
        np.mean([visits(order, 0, seed, 1_000) for seed in range(2)]) for order in ("curriculum", "uniform")
    )
    assert mine < uniform
    assert visits("hardest only", 0, 0, 200) == 200
