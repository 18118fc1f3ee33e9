"""The functions and classes of a source, with their lines."""

from whet.tools.outline import Definition, outline

SOURCE = b'''\
@one
@two(3)
class A:
    """Says something."""

    def f(
        self,
    ):
        """Does something."""
        return 1

if True:
    try:
        async def g(): return 2
    except E:
        def h():
            def i():
                pass
'''


def test_definitions_with_their_lines() -> None:
    assert outline(SOURCE) == (
        Definition("A", True, start=1, header=3, body=6, end=10, decorators=("one", "two(3)")),
        Definition("A.f", False, start=6, header=8, body=10, end=10, decorators=()),
        Definition("g", False, start=14, header=14, body=14, end=14, decorators=()),
        Definition("h", False, start=16, header=16, body=17, end=18, decorators=()),
        Definition("h.i", False, start=17, header=17, body=18, end=18, decorators=()),
    )


def test_what_does_not_parse_has_none() -> None:
    assert outline(b"def f(:\n") is None
    assert outline(b"\0") is None
    assert outline(b"") == ()
