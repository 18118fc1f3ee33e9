"""Readers: anyone may sign up."""

import json
from typing import Annotated, Any

from examples.api.access import SignedIn
from examples.api.answers import READING, WRITING, Refused, documented
from examples.api.bodies import Json, Single
from examples.api.faults import planted
from examples.api.fields import Absent, Limit, WrittenId
from examples.api.library import found, library
from examples.api.models import Member, MemberChange, MemberPage, NewMember, Preferences
from fastapi import APIRouter, Request, Response
from pydantic import StringConstraints, ValidationError

router = APIRouter(prefix="/members", tags=["members"])
Cursor = Annotated[str, StringConstraints(pattern="^m[0-9]{1,9}$")]


@router.post("", status_code=201, response_model=Member, responses=documented(409, *WRITING[1:]), dependencies=[Json])
async def sign_up(new: NewMember, response: Response) -> Member:
    if planted("no-telephone") and new.contact.kind == "phone":
        raise Refused(422, "The contact must be an e-mail address")
    member = library.add_member(new.username, new.password, new.model_dump(exclude={"username", "password"}))
    response.headers["Location"] = f"/members/{member.id}"
    return member


@router.get("", response_model=MemberPage, responses=documented(*READING), dependencies=[SignedIn, Single])
async def list_members(limit: Limit = 20, cursor: Cursor | Absent = None) -> MemberPage:
    """Page by page: `next_cursor` of one is `cursor` of the next."""
    after = int(cursor[1:]) if cursor else 0
    rest = [member for member in library.members.values() if member.id > after]
    return MemberPage(items=rest[:limit], next_cursor=f"m{rest[limit - 1].id}" if len(rest) > limit else None)


@router.get("/{member_id}", response_model=Member, responses=documented(404, *READING), dependencies=[SignedIn])
async def read_member(member_id: WrittenId) -> Member:
    return found(library.members, member_id, "member")


@router.patch("/{member_id}", response_model=Member, responses=documented(404, *WRITING), dependencies=[SignedIn, Json])
async def change_member(member_id: WrittenId, change: MemberChange) -> Member:
    """What is absent stays as it is."""
    member = found(library.members, member_id, "member")
    changed = member.model_copy(update={name: getattr(change, name) for name in change.model_fields_set})
    kept = {"name": member.name} if planted("name-lost") else {}
    library.members[member.id] = changed.model_copy(update=kept)
    return changed


@router.delete("/{member_id}", status_code=204, responses=documented(404, 409, *READING), dependencies=[SignedIn])
async def remove_member(member_id: WrittenId) -> Response:
    library.remove_member(found(library.members, member_id, "member"))
    return Response(status_code=204)


@router.get(
    "/{member_id}/preferences", response_model=Preferences, responses=documented(404, *READING), dependencies=[SignedIn]
)
async def read_preferences(member_id: WrittenId) -> Preferences:
    """404 until they were set."""
    found(library.members, member_id, "member")
    return found(library.preferences, member_id, "preferences")


_PREFERENCES: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Preferences"}}},
    }
}


@router.put(
    "/{member_id}/preferences", response_model=Preferences, responses=documented(404, *WRITING),
    dependencies=[SignedIn, Json], openapi_extra=_PREFERENCES,
)  # fmt: skip
async def set_preferences(member_id: WrittenId, request: Request) -> Preferences:
    found(library.members, member_id, "member")
    library.preferences[member_id] = _preferences(await request.body())
    return library.preferences[member_id]


def _preferences(content: bytes) -> Preferences:
    try:
        given = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise Refused(400, "The body is not JSON") from error
    if planted("nested-preference") and isinstance(given, dict):
        _sort_days(given.get("channels", {}))
    try:
        return Preferences.model_validate(given)
    except ValidationError as error:
        raise Refused(422, "Not preferences as the contract has them") from error


def _sort_days(channels: dict[str, Any]) -> None:
    """Trusts what nobody has validated yet."""
    for channel in channels.values():
        if channel is not None:
            channel.get("days", []).sort()
