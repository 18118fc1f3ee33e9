"""One step of a sequence as lines of a test, with the ids of earlier answers in the places where they stood."""

import re
from urllib.parse import unquote

from whet.reports.api.carrying import body_pattern
from whet.reports.api.curl import credential_variable
from whet.reports.api.model import Carried, FaultLine, StepLine
from whet.reports.api.redaction import HIDDEN
from whet.skills.api.faults import Kind
from whet.skills.api.spoiling import WRONG

_LINE = 110
_OTHERS = (404, 412)  # it is not there, or not as it was
_SKIP = "    pytest.skip('what this was found with is not there any more')"


def step_source(number: int, step: StepLine, fault: FaultLine) -> list[str]:
    """Where a fault rests on things that may be gone when the test runs, it has nothing to say then."""
    last = number == len(fault.steps) - 1
    name = "answer" if last else f"answer_{number + 1}"
    arguments = [ascii(step.request.method), _target(step)]
    arguments += [f"headers={headers}"] if (headers := _headers(step)) else []
    arguments += [] if step.request.body is None else [f"body={_body(step.request.body, step.carried)}"]
    names = _names(step, last)
    if names:
        # At the end another answer than "taken" may be the very point.
        arguments += [f"names={names!a}", *(["taken=(409,)"] if last else [])]
    verb = "create" if names else "send"
    behind = _gone(step, fault) if last else _setup(name, step, fault.rests)
    return [*_call(f"{name} = {verb}", arguments), *behind]


def _call(call: str, arguments: list[str]) -> list[str]:
    line = f"{call}({', '.join(arguments)})"
    return [line] if len(line) <= _LINE else [f"{call}(", *(f"    {each}," for each in arguments), ")"]


def _names(step: StepLine, last: bool) -> tuple[str, ...]:
    """What in it may be taken when the test runs again; ids of earlier answers stay."""
    worked = step.status is not None and 200 <= step.status < 300
    if (
        step.request.method not in ("POST", "PUT")
        or not (worked or last)
        or not (step.request.body or b"").startswith(b"{")
    ):
        return ()
    taken = {one.place for one in step.carried if one.where == "body"}
    return tuple(each for each in step.names if each.rpartition("/")[2] not in taken)


def _setup(name: str, step: StepLine, rests: bool) -> list[str]:
    """What worked when the fault was found must work now, or the last answer would mean something else."""
    if step.status is None or not 200 <= step.status < 300:
        return []
    return [f"if not {name}.is_in(200, 299):", _SKIP] if rests else [f"assert {name}.is_in(200, 299), {name}"]


def _gone(step: StepLine, fault: FaultLine) -> list[str]:
    """Unless being gone, or another version, is what it should be."""
    meant = step.status in _OTHERS or fault.kind is Kind.READ_AFTER_DELETE
    return [f"if answer.status in {_OTHERS}:", _SKIP] if fault.rests and not meant else []


def _target(step: StepLine) -> str:
    target = step.request.target.replace(HIDDEN, WRONG) if step.credentials == "wrong" else step.request.target
    path, mark, query = target.partition("?")
    segments = path.split("/")
    pieces: list[str] = []
    taken = {one.place: one for one in step.carried if one.where == "path"}
    text = ""
    for number, segment in enumerate(segments):
        text += "/" if number else ""
        one = taken.get(str(number))
        if one is not None and unquote(segment) == one.text:
            pieces += [_text(text), f"escaped({_value(one)})"]
            text = ""
        else:
            text += segment
    return " + ".join(piece for piece in [*pieces, *_query(text + mark, query, step.carried)] if piece != "''") or "''"


def _query(before: str, query: str, carried: tuple[Carried, ...]) -> list[str]:
    taken = {one.place: one for one in carried if one.where == "query"}
    pieces: list[str] = []
    text = before
    for number, field in enumerate(query.split("&") if query else []):
        name, equals, value = field.partition("=")
        text += "&" if number else ""
        one = taken.get(unquote(name.replace("+", " ")))
        if one is not None and equals and unquote(value.replace("+", " ")) == one.text:
            pieces += [_text(f"{text}{name}="), f"escaped({_value(one)})"]
            text = ""
        elif value == HIDDEN:
            pieces += [_text(f"{text}{name}="), f"escaped(from_environment({credential_variable(name)!a}))"]
            text = ""
        else:
            text += field
    return [*pieces, _text(text)]


def _headers(step: StepLine) -> str:
    taken = {one.place: one for one in step.carried if one.where == "header"}
    shown = [f"({name!a}, {_header(name, value, step, taken)})" for name, value in step.request.headers]
    return f"[{', '.join(shown)}]" if shown else ""


def _header(name: str, value: str, step: StepLine, taken: dict[str, Carried]) -> str:
    one = taken.get(name)
    if one is not None and one.text in value:
        before, _, behind = value.partition(one.text)
        pieces = [ascii(before) if before else "", _value(one), ascii(behind) if behind else ""]
        return " + ".join(piece for piece in pieces if piece)
    if HIDDEN not in value:
        return ascii(value)
    if step.credentials == "wrong":
        return ascii(value.replace(HIDDEN, WRONG))
    return f"from_environment({credential_variable(name)!a})"


def _body(body: bytes, carried: tuple[Carried, ...]) -> str:
    """The bytes as they were, with ids of earlier answers in between."""
    taken = (one for one in carried if one.where == "body")
    spots = [(found.span(2), one) for one in taken if (found := body_pattern(one).search(body)) is not None]
    pieces, position = [], 0
    for (start, end), one in sorted(spots, key=lambda spot: spot[0]):
        if start >= position:
            pieces += [_bytes(body[position:start]), _written(one, body[start:end])]
            position = end
    rest = _bytes(body[position:])
    return " + ".join([*pieces, *([rest] if rest != "b''" or not pieces else [])])


def _value(one: Carried) -> str:
    return f"answer_{one.step + 1}.value({one.source!a}, {one.text!a})"


def _written(one: Carried, literal: bytes) -> str:
    """As the request had it: a number stays a number, and an id that was sent as text is sent as text."""
    quoted = ", as_text=True" if literal.startswith(b'"') else ""
    return f"answer_{one.step + 1}.written({one.source!a}, {one.text!a}{quoted})"


def _text(text: str) -> str:
    shown = ascii(text)
    return shown if HIDDEN not in text else f"{shown}.replace('{HIDDEN}', escaped(from_environment('WHET_API_SECRET')))"


def _bytes(body: bytes) -> str:
    shown = repr(body)
    run = re.fullmatch(rb"(.)\1{199,}", body, re.DOTALL)
    if run is not None:
        shown = f"{run[1]!r} * {len(body)}"
    return (
        shown
        if HIDDEN.encode() not in body
        else f"{shown}.replace(b'{HIDDEN}', from_environment('WHET_API_SECRET').encode())"
    )
