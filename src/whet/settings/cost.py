"""What runs cost: [tool.whet.cost]. Without a price nothing is guessed."""

from pydantic import Field

from whet.settings.section import Section


class Cost(Section):
    """What runs cost, and how much they may."""

    per_hour: float | None = Field(
        None,
        ge=0,
        description="Price of one hour of the machine that runs; costs are unknown when not set.",
        examples=[0.2],
    )
    currency: str = Field("EUR", min_length=1, max_length=10, description="What prices are in.")
    monthly_budget: float | None = Field(
        None, gt=0, description="What a month's runs may cost; the dashboard warns before it is spent.", examples=[50.0]
    )
    warn_at: float = Field(0.8, gt=0, le=1, description="The share of the budget at which it warns.")
