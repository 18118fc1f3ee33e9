"""How learned policies reach production and teams: [tool.whet.production] and [tool.whet.team_learning]."""

from typing import Literal

from whet.settings.section import Section, not_yet


class Production(Section):
    """Comparing a new policy with the old one, and going back."""

    ab_testing: bool = not_yet(False, "Let a new policy decide part of the runs and compare.")
    traffic_split: float = not_yet(0.5, "Share of the runs the new policy decides.", gt=0, lt=1)
    min_samples: int = not_yet(100, "Outcomes that are needed before they are compared.", ge=1)
    confidence_level: float = not_yet(0.95, "How sure a comparison must be.", gt=0, lt=1)
    snapshot_interval_seconds: int = not_yet(3600, "How often the tables are copied.", ge=1)
    rollback_threshold: float = not_yet(0.10, "Fall of the success rate that brings the old policy back.", gt=0, le=1)


class TeamLearning(Section):
    """Sharing what was learned. Off unless asked for: nothing leaves the machine by default."""

    enabled: bool = not_yet(False, "Share tables with the team.")
    sync_interval_seconds: int = not_yet(3600, "How often tables are exchanged.", ge=1)
    push_threshold: float = not_yet(0.7, "Values below this confidence are not shared.", ge=0, le=1)
    conflict_resolution: Literal["highest_confidence"] = not_yet(
        "highest_confidence", "Whose value wins when two differ."
    )
    privacy_mode: Literal["differential"] = not_yet("differential", "How shared values are protected.")
    dp_epsilon: float = not_yet(1.0, "Privacy budget of differential privacy; less is more private.", gt=0)
