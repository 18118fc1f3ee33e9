"""Under which name a project's runs and memories are kept.

A store of its own belongs to one project, whatever its folder is called later. In a store that several share, a project
is known by where its repository comes from: a checkout in another folder is the same, and another project is not.
"""

import json

from whet.core.errors import WhetError
from whet.core.ports import ServiceKnowledge, Store
from whet.settings.load import read_toml
from whet.tools import git
from whet.tools.project import Project

# `store.knowledge` keeps documents and changes each whole; this one is, by name, whose it is.
DOCUMENT = "whet, projects of this store"
_LONGEST = 200

Owners = dict[str, list[str]]


def own_name(store: Store, project: Project, told: str | None) -> str:
    """In the project's own store: the name its memories have, since it is in their ids."""
    kept, names = store.memories.projects(), [name for name in (told, project.name[:_LONGEST]) if name is not None]
    return next((name for name in (*names, *kept) if name in kept), names[0])


def shared_name(store: Store, project: Project, told: str | None) -> str:
    """Where several projects may be. Who says a name means it; who says none gets the folder's, if it is nobody's."""
    origin = git.origin(project.root)
    if told is not None:
        return _shared(store.knowledge, origin, told)
    return _claimed(store.knowledge, origin or _folder(project), project.name[:_LONGEST])


def _folder(project: Project) -> str:
    """Without the machine: containers of one image have other names each time."""
    pyproject = project.root / "pyproject.toml"
    package = read_toml(pyproject).get("project") if pyproject.is_file() else None
    named = package.get("name") if isinstance(package, dict) else None
    return str(project.root) if named is None else f"{project.root} ({named})"


def _claimed(kept: ServiceKnowledge, whose: str, name: str) -> str:
    found = _name_of(whose, _owners(kept.load(DOCUMENT)))
    if found is not None:
        return found

    def claim(document: str | None) -> str:
        owners = _owners(document)
        if _name_of(whose, owners) is None:
            _refuse_taken(name, whose, owners)
            owners[name] = [whose]
        return json.dumps(owners)

    return _name_of(whose, _owners(kept.update(DOCUMENT, claim))) or name


def _shared(kept: ServiceKnowledge, whose: str | None, name: str) -> str:
    """Noted, so that nobody takes it who did not mean it."""

    def join(document: str | None) -> str:
        owners = _owners(document)
        known = [each for each in owners.pop(name, []) if each != whose]
        return json.dumps({**owners, name: [*known, *([] if whose is None else [whose])]})

    owners = _owners(kept.load(DOCUMENT))
    if name not in owners or _name_of(whose, owners) not in (None, name) or (whose and whose not in owners[name]):
        kept.update(DOCUMENT, join)
    return name


def _refuse_taken(name: str, whose: str, owners: Owners) -> None:
    if name in owners:
        theirs = " and ".join(owners[name]) or "one that says so in its settings"
        raise WhetError(
            f"The store has a project {name!r} already: {theirs}. This one is {whose}, and both would be mixed.",
            f'Give this one a name of its own in pyproject.toml: [tool.whet] project = "…"; or, if it is the same '
            f'project, the same: project = "{name}".',
        )


def _name_of(whose: str | None, owners: Owners) -> str | None:
    """The last one it was given."""
    return next((name for name, known in reversed(owners.items()) if whose in known), None)


def _owners(document: str | None) -> Owners:
    owners: Owners = json.loads(document) if document else {}
    return owners
