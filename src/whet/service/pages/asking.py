"""What routes of pages have in common: who asks, and where in a list they are."""

from typing import Annotated

from fastapi import Depends, Query

from whet.core.people import Person, Role
from whet.service.access import require

Viewer = Annotated[Person, Depends(require(Role.VIEWER))]
Reviewer = Annotated[Person, Depends(require(Role.REVIEWER))]
Operator = Annotated[Person, Depends(require(Role.OPERATOR))]
Before = Annotated[int | None, Query(ge=0, le=2**62)]
