import time

import pytest

from shop.shipping import book_pickup


def test_pickup_at_first_call():
    assert book_pickup(lambda: "P-1") == "P-1"


def test_pickup_is_asked_for_again():
    answers = iter([ConnectionError(), ConnectionError(), ConnectionError(), "P-4"])

    def carrier():
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    begun = time.monotonic()
    assert book_pickup(carrier) == "P-4"
    assert time.monotonic() - begun >= 0.7


def test_carrier_that_stays_away():
    def carrier():
        raise ConnectionError("no route")

    with pytest.raises(ConnectionError, match="no route"):
        book_pickup(carrier, attempts=3, pause_seconds=0.2)
