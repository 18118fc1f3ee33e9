"""Whether a changed draft breaks the contract for certain, as a sentence."""

from whet.core.text import printable
from whet.skills.api.contract.schemas import Schemas
from whet.skills.api.exchange import Draft
from whet.skills.api.mutations.places import Place, at
from whet.skills.api.mutations.sites import Site
from whet.skills.api.oracles.breaches import spoken
from whet.skills.api.oracles.keeping import Keeping

_LONGEST = 200


class Breaking:
    def __init__(self, schemas: Schemas) -> None:
        self._keeping = Keeping(schemas)

    def sentence(self, draft: Draft, site: Site | None) -> str | None:
        """None also where nobody can tell, and where services forgive on purpose: null for what may be left out."""
        if site is not None and not site.required and _is_null(draft, site.place):
            return None
        breaches = self._keeping.broken(draft)
        if not breaches:
            return None
        first = breaches[0]
        parameter = site.place if site is not None and site.place.where != "body" else None
        where = str(parameter) if parameter else f"{spoken(first.at)} of the body" if first.at else "the body"
        return f"{where}: {printable(first.message, _LONGEST)}"


def _is_null(draft: Draft, place: Place) -> bool:
    try:
        return at(draft, place) is None
    except (KeyError, IndexError, TypeError):
        return False  # the place itself is gone: that is not null
