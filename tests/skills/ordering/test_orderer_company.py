"""Which tests fail together."""

from whet.skills.ordering.company import Company


def test_shares_of_common_failures_by_hand() -> None:
    company = Company()
    for failed in (["a", "b"], ["a", "b"], ["a", "c"], ["a"]):
        company.learn(failed)
    # Of a's four failures, and two that are taken for granted, b shared two and c one.
    assert company.of(["a", "b", "c", "d"], ["a"]).tolist() == [0, 2 / 6, 1 / 6, 0]
    assert company.of(["a"], ["b"]).tolist() == [2 / 4]


def test_the_closest_of_several_counts() -> None:
    company = Company()
    for failed in (["a", "x"], ["a"], ["a"], ["b", "x"]):
        company.learn(failed)
    assert company.of(["x"], ["a", "b"]).tolist() == [1 / 3]


def test_nothing_failed_says_nothing() -> None:
    company = Company()
    company.learn(["a", "b"])
    company.learn([])
    assert company.newest == ("a", "b")
    assert company.of(["a", "b"], []).tolist() == [0, 0]
    assert company.of([], ["a"]).tolist() == []


def test_a_breakdown_says_nothing_about_pairs() -> None:
    company = Company()
    company.learn([f"t{i}" for i in range(41)])
    assert company.of(["t0"], ["t1"]).tolist() == [0]
    assert len(company.newest) == 40
    company.learn([f"t{i}" for i in range(40)])
    assert company.of(["t0"], ["t1"]).tolist() == [1 / 3]


def test_the_closest_companions_are_kept_when_there_are_many() -> None:
    company = Company()
    for _ in range(3):
        company.learn(["a", "friend"])
    for i in range(120):
        company.learn(["a", f"passer-by {i}"])
    assert len(company.together["a"]) <= 100
    assert company.together["a"]["friend"] == 3
