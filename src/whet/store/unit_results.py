"""What each policy's decisions earned, run by run: what rollouts are judged by."""

from datetime import datetime

from sqlalchemy import Connection, case, func, select

from whet.core.learning_log import UnitResult
from whet.store.schema import decisions, experiences

_failed = experiences.c.outcome["failed"].as_string()
_cut_short = experiences.c.outcome["cut_short"].as_boolean()
_unearned = experiences.c.outcome["unearned"].as_string()


def unit_results(connection: Connection, agent: str, since: datetime) -> list[UnitResult]:
    first = func.min(decisions.c.at)
    query = (
        select(
            decisions.c.run_id,
            decisions.c.policy,
            func.count(),
            func.avg(experiences.c.reward_credited),
            func.avg(case((_failed.is_(None), 1.0), else_=0.0)),
            first,
        )
        .join_from(decisions, experiences, experiences.c.decision_id == decisions.c.id)
        .where(decisions.c.agent == agent, decisions.c.at >= since)
        .where(func.coalesce(_cut_short, False).is_(False), _unearned.is_(None))
        .group_by(decisions.c.run_id, decisions.c.policy)
        .order_by(first, decisions.c.run_id, decisions.c.policy)
    )
    return [UnitResult(*row) for row in connection.execute(query)]
