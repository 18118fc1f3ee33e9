"""News is paid once."""

from typing import Any

import pytest
from tests.skills.api.small_service import contract, does, operation, told

from whet.skills.api.learning.novelty import News, Novelty, answer_of

CONTRACT = contract({"/a": {"get": does("200")}, "/b": {"get": does("200")}})
A, B = operation(CONTRACT, "GET /a"), operation(CONTRACT, "GET /b")


def worth(novelty: Novelty, of: Any, status: int | None, answer: Any = None, **more: Any) -> float:
    return novelty.news(told(of, status, answer), more.get("signature"), more.get("causes", ())).worth


def test_the_same_crash_is_paid_once_per_operation() -> None:
    novelty = Novelty()
    first = worth(novelty, A, 500, causes=("KeyError in x",), signature="KeyError")
    again = worth(novelty, A, 500, causes=("KeyError in x",), signature="KeyError")
    other = worth(novelty, A, 500, causes=("ValueError in y",), signature="ValueError")
    elsewhere = worth(novelty, B, 500, causes=("KeyError in x",), signature="KeyError")

    assert (first, again, other, elsewhere) == (1.0, 0.0, 1.0, 1.0)


SAME = "500 Internal Server Error"


def way(novelty: Novelty, of: Any, family: str, signature: str = SAME) -> tuple[float, str]:
    news = novelty.news(told(of, 500), signature, (f"server-error | {of.id} | {signature}",), family)
    return news.worth, news.by


def test_where_every_failure_says_the_same_what_brought_it_about_tells_two_apart() -> None:
    novelty = Novelty()
    assert way(novelty, A, "texts") == (1.0, "")
    assert way(novelty, A, "numbers") == (0.0, ""), "only one operation says so: it may be about itself"
    assert way(novelty, B, "texts") == (1.0, "texts")
    paid = [way(novelty, B, family) for family in ("texts", "numbers", "numbers", "heads")]
    assert paid == [(0.0, "texts"), (0.5, "numbers"), (0.0, "numbers"), (0.5, "heads")]
    numbers = {novelty.news(told(B, 500), SAME, (), family).answer for family in ("texts", "numbers", "heads")}
    assert len(numbers) == 3, "so that what is answered is learned for each"


def test_what_fails_with_valid_requests_too_or_says_what_it_is_is_one_crash() -> None:
    novelty = Novelty()
    for of in (A, B):
        way(novelty, of, "texts")
    assert way(novelty, B, "") == (0.0, "")
    assert way(novelty, B, "numbers") == (0.0, "")
    for signature in ("trace KeyError at app.py", "500 ValueError"):
        assert [way(novelty, of, family, signature) for family in ("texts", "heads") for of in (A, B)] == [
            (1.0, ""), (1.0, ""), (0.0, ""), (0.0, ""),
        ]  # fmt: skip


def test_what_an_earlier_run_brought_about_is_no_news() -> None:
    novelty = Novelty()
    novelty.known(B.id, 500)
    novelty.known_cause(B.id, f"server-error | {B.id} | {SAME} | by texts")
    way(novelty, A, "texts")
    (again, _), (other, _) = way(novelty, B, "texts"), way(novelty, B, "heads")
    assert again < 0.1
    assert other == 0.5


def test_a_new_status_of_an_operation_is_paid_once() -> None:
    novelty = Novelty()
    paid = [worth(novelty, A, 404) for _ in range(3)]
    assert paid[0] > 0.5
    assert paid[1:] == [0.0, 0.0]
    assert worth(novelty, B, 404) == paid[0]


def test_silence_is_no_status() -> None:
    assert not Novelty().news(told(A, None), None, ()).status


def test_a_shape_is_names_and_types_not_values() -> None:
    novelty = Novelty()
    worth(novelty, A, 200, {"id": 1, "tags": []})
    assert worth(novelty, A, 200, {"id": 2, "tags": []}) == 0.0
    assert 0.0 < worth(novelty, A, 200, {"id": "2", "tags": []}) < 0.5
    assert 0.0 < worth(novelty, A, 200, {"id": 1, "tags": ["x"]}) < 0.5


def test_answers_that_always_differ_are_not_news_for_ever() -> None:
    novelty = Novelty()
    shapes = [worth(novelty, A, 200, {f"k{number}": 1}) for number in range(30)]
    errors = [worth(novelty, A, 400, signature=f"e{number}") for number in range(30)]
    assert sum(one > 0 for one in shapes) <= 7
    assert sum(one > 0 for one in errors) <= 7


@pytest.mark.parametrize("answer", [None, 7, "text", [[[[[]]]]], {"a": {"b": {"c": {"d": {"e": 1}}}}}])
def test_any_answer_has_a_shape(answer: Any) -> None:
    assert isinstance(Novelty().news(told(A, 200, answer), None, ()), News)


def test_failures_are_told_apart_by_what_they_say_and_other_answers_by_their_status() -> None:
    assert answer_of(404, "no such thing") == answer_of(404, "gone") == 404
    assert answer_of(None, None) is None
    boom, bang = answer_of(500, "500 boom"), answer_of(500, "500 bang \ud800")
    assert boom is not None
    assert bang is not None
    assert boom == answer_of(500, "500 boom") != bang
    assert max(boom, bang) < 0


def test_what_an_earlier_run_knows_comes_back_without_the_words() -> None:
    before, after = Novelty(), Novelty()
    worth(before, A, 200)
    worth(before, B, 500, causes=("boom",), signature="500 boom of a secret")
    for name, answers in before.statuses().items():
        for answer in answers:
            after.known(name, answer)
    after.known_cause(B.id, "boom")
    assert after.statuses() == before.statuses() == {A.id: [200], B.id: [answer_of(500, "500 boom of a secret"), 500]}
    assert worth(after, B, 500, causes=("boom",), signature="500 boom of a secret") < 0.1


def test_of_endlessly_many_ways_to_fail_a_few_are_remembered() -> None:
    novelty = Novelty()
    for number in range(1_000):
        worth(novelty, A, 500, signature=f"boom {number}")
        novelty.known(A.id, -5_000_000_000 - number)
    assert len(novelty.statuses()[A.id]) == 21  # and the status itself
