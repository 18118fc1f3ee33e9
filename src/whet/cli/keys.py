"""whet keys: who may use the service."""

from datetime import timedelta
from pathlib import Path

import click

from whet.bootstrap.site import Site, open_site
from whet.cli.options import format_option, project_option
from whet.cli.output import dump, say, table
from whet.cli.person import user
from whet.cli.serve import require_service
from whet.core.errors import WhetError
from whet.core.people import Key, Role
from whet.core.records import now


@click.group()
@project_option()
@click.pass_context
def keys(ctx: click.Context, project: Path) -> None:
    """Keys of people and programs for whet serve.

    \b
    viewer sees everything; reviewer judges findings, runs and decisions; operator makes
    things happen; admin gives keys. metrics reads /metrics and nothing else.
      whet keys add "QA lead" --role reviewer
      whet keys list
      whet keys rotate 3f2a9c01b7de        another secret; the one before ends at once
      whet keys revoke 3f2a9c01b7de
    """
    require_service()
    ctx.obj = open_site(project)


@keys.command()
@click.argument("name")
@click.option("--role", type=click.Choice([role.value for role in Role]), default="viewer", show_default=True)
@click.option("--days", type=click.FloatRange(0, 3650, min_open=True), help="When it ends.  [default: when revoked]")
@click.pass_obj
def add(site: Site, name: str, role: str, days: float | None) -> None:
    """Make a key for NAME. It is shown once."""
    from whet.service.keys import mint, service_secret

    if not 0 < len(name) <= 100:
        raise WhetError(f"The name has {len(name)} characters.", "Give one of 1 to 100.")
    ends = None if days is None else now() + timedelta(days=days)
    with site.store() as store:
        minted = mint(service_secret(site), name, Role(role), ends)
        store.people.add(minted.kept, user(), now())
    say(minted.text)


@keys.command("list")
@format_option()
@click.pass_obj
def show(site: Site, form: str) -> None:
    """All keys, without their secrets."""
    with site.store() as store:
        found = store.people.all()
    if form == "json":
        dump([key.model_dump(mode="json", exclude={"digest"}) for key in found])
    elif not found:
        say("There are no keys yet. The first start of whet serve makes one.")
    else:
        rows = [(key.id, key.name, key.role.value, f"{key.made_at:%Y-%m-%d}", _standing(key)) for key in found]
        table("Keys", ("id", "name", "role", "made", "standing"), rows)


@keys.command()
@click.argument("key_id")
@click.pass_obj
def revoke(site: Site, key_id: str) -> None:
    """End the key KEY_ID and all its sessions, for good."""
    with site.store() as store:
        found = store.people.revoke(key_id, user(), now())
    if found is None:
        raise _unknown(key_id)
    say(f"Revoked: {found.name}. It is refused from the next second on.")


@keys.command()
@click.argument("key_id")
@click.pass_obj
def rotate(site: Site, key_id: str) -> None:
    """Give KEY_ID another secret, shown once; the one before and all its sessions end."""
    from whet.service.keys import new_secret, service_secret

    digest, text = new_secret(service_secret(site), key_id)
    with site.store() as store:
        if store.people.rotate(key_id, digest, user(), now()) is None:
            raise _unknown(key_id)
    say(text)


def _standing(key: Key) -> str:
    if key.revoked_at is not None:
        return f"revoked {key.revoked_at:%Y-%m-%d}"
    if key.expires_at is not None:
        return f"{'until' if key.valid(now()) else 'ended'} {key.expires_at:%Y-%m-%d}"
    return "valid"


def _unknown(key_id: str) -> WhetError:
    return WhetError(f"There is no valid key {key_id!r}.", "The ids are in: whet keys list")
