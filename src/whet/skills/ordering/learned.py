"""Everything an orderer has learned, in one place."""

from dataclasses import dataclass, field

from whet.skills.ordering.columns import Columns
from whet.skills.ordering.company import Company
from whet.skills.ordering.experts import Goal, priors
from whet.skills.ordering.hazard import Hazard
from whet.skills.ordering.hedge import AdaHedge
from whet.skills.ordering.promise import Promise


@dataclass
class Learned:
    sheets: int = 0  # how many were learned from
    selections: int = 0  # runs that left tests out, since the last one of everything
    columns: Columns = field(default_factory=Columns)
    hazard: Hazard = field(default_factory=Hazard)
    hedges: dict[Goal, AdaHedge] = field(default_factory=lambda: {goal: AdaHedge(priors(goal)) for goal in Goal})
    company: Company = field(default_factory=Company)
    promise: Promise = field(default_factory=Promise)
    # test → code it last ran on, and whether it failed there
    versions: dict[str, tuple[str, bool]] = field(default_factory=dict)
