"""Whether a changed draft breaks the contract for certain, as a sentence."""

from whet.skills.api.contract.schemas import Schemas
from whet.skills.api.exchange import Draft
from whet.skills.api.mutations.places import Place, at
from whet.skills.api.mutations.sites import Site
from whet.skills.api.oracles.breaches import sentence
from whet.skills.api.oracles.keeping import Keeping


class Breaking:
    def __init__(self, schemas: Schemas) -> None:
        self._keeping = Keeping(schemas)

    def sentence(self, draft: Draft, site: Site | None) -> str | None:
        """None also where nobody can tell, and where services forgive on purpose: null for what may be left out."""
        if site is not None and not site.required and _is_null(draft, site.place):
            return None
        breaches = self._keeping.broken(draft)
        return sentence(breaches[0]) if breaches else None


def _is_null(draft: Draft, place: Place) -> bool:
    try:
        return at(draft, place) is None
    except (KeyError, IndexError, TypeError):
        return False  # the place itself is gone: that is not null
