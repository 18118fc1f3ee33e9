"""Keys, for admins. A secret is in the answer that makes it, and nowhere else."""

from datetime import timedelta
from typing import Annotated, Final

from fastapi import APIRouter, Depends, Request
from pydantic import Field

from whet.client.wire import KeyItem, KeyItems, NewKeyItem
from whet.core.people import Key, Label, Person, Role
from whet.core.records import Record
from whet.service.access import require
from whet.service.desk import desk_of
from whet.service.keys import mint, new_secret
from whet.service.problems import Refused
from whet.service.rest.answers import PROBLEMS
from whet.service.rest.bodies import Body
from whet.service.rest.lists import Id

router = APIRouter(prefix="/api/v1/keys", tags=["keys"], responses=PROBLEMS)
Admin = Annotated[Person, Depends(require(Role.ADMIN))]


class Add(Record):
    name: Label
    role: Role = Role.VIEWER
    days: Annotated[float, Field(gt=0, le=3650)] | None = Field(None, description="when it ends; null: when revoked")


_ADD: Final[Body[Add]] = Body(Add, {"name": "nightly build", "role": "operator", "days": 90.0})


@router.get("")
def keys(request: Request, _person: Admin) -> KeyItems:
    """All keys, without their secrets."""
    return KeyItems(items=tuple(_item(key) for key in desk_of(request).store.people.all()))


@router.post("", status_code=201, openapi_extra=_ADD.described)
def add(request: Request, person: Admin, asked: Annotated[Add, Depends(_ADD)]) -> NewKeyItem:
    desk = desk_of(request)
    ends = None if asked.days is None else desk.clock() + timedelta(days=asked.days)
    minted = mint(desk.secret, asked.name, asked.role, ends)
    return NewKeyItem(key=_item(desk.store.people.add(minted.kept, person.name, desk.clock())), text=minted.text)


@router.post("/{key}/revoke")
def revoke(request: Request, person: Admin, key: Id) -> KeyItem:
    """It is refused from now on, and all its sessions end."""
    desk = desk_of(request)
    found = desk.store.people.revoke(key, person.name, desk.clock())
    request.app.state.identifying.forget()
    return _item(_known(found, key))


@router.post("/{key}/rotate")
def rotate(request: Request, person: Admin, key: Id) -> NewKeyItem:
    """Another secret; the one before is refused from now on, and all its sessions end."""
    desk = desk_of(request)
    digest, text = new_secret(desk.secret, key)
    found = desk.store.people.rotate(key, digest, person.name, desk.clock())
    request.app.state.identifying.forget()
    return NewKeyItem(key=_item(_known(found, key)), text=text)


def _known(found: Key | None, key: str) -> Key:
    if found is None:
        raise Refused(404, f"There is no valid key {key!r}.", "List them: GET /api/v1/keys")
    return found


def _item(key: Key) -> KeyItem:
    return KeyItem(**{name: getattr(key, name) for name in KeyItem.model_fields})
