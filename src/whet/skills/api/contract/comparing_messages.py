"""How one operation's parameters, bodies, answers and guards differ between two contracts."""

from collections.abc import Iterator, Mapping

from whet.skills.api.contract.changes import Change, as_changes
from whet.skills.api.contract.comparing_schemas import Comparison
from whet.skills.api.contract.model import Answer, Contract, Operation, Parameter


def parameter_changes(old: Operation, new: Operation, sent: Comparison) -> Iterator[Change]:
    before, after = _by_place(old), _by_place(new)
    for key in [*before, *(one for one in after if one not in before)]:
        said = f"the {key[0]} parameter {key[1]}" if key[0] != "path" else f"the path's parameter {key[1]}"
        if key not in after:
            yield Change("parameter-removed", True, new.id, f"{said} is gone.")
        elif key not in before:
            needed = after[key].required
            yield Change("parameter-added", needed, new.id, f"{said} is new{' and required' if needed else ''}.")
        else:
            yield from _parameter(before[key], after[key], said, new.id, sent)


def _by_place(operation: Operation) -> dict[tuple[str, str], Parameter]:
    """Path parameters by their number: their names are nobody's business but the document's."""
    in_path = [one for one in operation.parameters if one.where == "path"]
    in_path.sort(key=lambda one: operation.path.find(f"{{{one.name}}}"))
    made: dict[tuple[str, str], Parameter] = {("path", str(n)): one for n, one in enumerate(in_path, 1)}
    made.update({(one.where, _name(one)): one for one in operation.parameters if one.where != "path"})
    return made


def _name(parameter: Parameter) -> str:
    return parameter.name.lower() if parameter.where == "header" else parameter.name


def _parameter(old: Parameter, new: Parameter, said: str, operation: str, sent: Comparison) -> Iterator[Change]:
    if new.required and not old.required:
        yield Change("parameter-required", True, operation, f"{said} is now required.")
    elif old.required and not new.required:
        yield Change("parameter-optional", False, operation, f"{said} is no longer required.")
    if (old.style, old.explode, old.media) != (new.style, new.explode, new.media):
        yield Change("parameter-style-changed", True, operation, f"{said} is written differently.")
    yield from as_changes(sent.shifts(old.schema, new.schema), operation, said, sent=True)


def body_changes(old: Operation, new: Operation, sent: Comparison) -> Iterator[Change]:
    before, after = {one.media: one for one in old.bodies}, {one.media: one for one in new.bodies}
    if not before or not after:
        yield from _body_as_such(old, new)
        return
    for media in before:
        if media not in after:
            yield Change("media-removed", True, new.id, f"the body can no longer be {media}.")
    for media in after:
        if media not in before:
            yield Change("media-added", False, new.id, f"the body can now be {media}.")
    yield from _body_need(old, new)
    for media in [one for one in before if one in after]:
        shifts = sent.shifts(before[media].schema, after[media].schema)
        yield from as_changes(shifts, new.id, f"the body as {media}", sent=True)


def _body_as_such(old: Operation, new: Operation) -> Iterator[Change]:
    if old.bodies:
        yield Change("body-removed", True, new.id, "it takes no body any more.")
    elif new.bodies:
        needed = any(one.required for one in new.bodies)
        yield Change("body-added", needed, new.id, f"it takes a body now{', which is required' if needed else ''}.")


def _body_need(old: Operation, new: Operation) -> Iterator[Change]:
    needed, needs = any(one.required for one in old.bodies), any(one.required for one in new.bodies)
    if needs and not needed:
        yield Change("body-required", True, new.id, "its body is now required.")
    elif needed and not needs:
        yield Change("body-optional", False, new.id, "its body is no longer required.")


def answer_changes(old: Operation, new: Operation, received: Comparison) -> Iterator[Change]:
    before, after = {one.status: one for one in old.answers}, {one.status: one for one in new.answers}
    for status in before:
        if status not in after:
            yield Change("answer-removed", status[0] in "2d", new.id, f"the answer {status} is gone.")
    for status in after:
        if status not in before:
            yield Change("answer-added", False, new.id, f"the answer {status} is new.")
        else:
            yield from _answer(before[status], after[status], new.id, received)


def _answer(old: Answer, new: Answer, operation: str, received: Comparison) -> Iterator[Change]:
    for media in old.contents:
        if media not in new.contents:
            yield Change("media-removed", True, operation, f"the answer {old.status} no longer comes as {media}.")
    for media, after in new.contents.items():
        said = f"the answer {new.status} as {media}"
        if media not in old.contents:
            yield Change("media-added", False, operation, f"the answer {new.status} can now come as {media}.")
        else:
            yield from as_changes(received.shifts(old.contents[media] or {}, after or {}), operation, said, sent=False)
    yield from _headers(old, new, operation, received)


def _headers(old: Answer, new: Answer, operation: str, received: Comparison) -> Iterator[Change]:
    before = {name.lower(): schema for name, schema in old.headers.items()}
    after = {name.lower(): schema for name, schema in new.headers.items()}
    for name in before:
        said = f"the header {name} of answer {new.status}"
        if name not in after:
            yield Change("header-removed", True, operation, f"{said} is gone.")
        else:
            yield from as_changes(received.shifts(before[name], after[name]), operation, said, sent=False)
    for name in after:
        if name not in before:
            yield Change("header-added", False, operation, f"the header {name} of answer {new.status} is new.")


def security_changes(old: Contract, new: Contract, before: Operation, after: Operation) -> Iterator[Change]:
    """By what the schemes are, not by what they are called."""
    were, are = _ways_in(old, before), _ways_in(new, after)
    for way in were:
        if way not in are:
            yield Change("security-removed", True, after.id, f"{_way_said(way)} no longer lets a caller in.")
    for way in are:
        if way not in were:
            yield Change("security-added", False, after.id, f"{_way_said(way)} now lets a caller in.")


Way = frozenset[tuple[str, str, str]]


def _ways_in(contract: Contract, operation: Operation) -> Mapping[Way, None]:
    known = contract.security_schemes
    sets = operation.security or (frozenset[str](),)  # nothing asked for: anybody may come
    return {
        frozenset((known[name].kind, known[name].where or "", known[name].field or "") for name in one): None
        for one in sets
    }


def _way_said(way: Way) -> str:
    if not way:
        return "coming without credentials"
    return " with ".join(" ".join(part for part in scheme if part) for scheme in sorted(way))
