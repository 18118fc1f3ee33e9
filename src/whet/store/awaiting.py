"""Which decision of a state waits for a person: the newest pending one. Kept beside the decisions, so that finding it
does not grow with how many waited before."""

from sqlalchemy import Connection, delete, func, select

from whet.core.records import Review
from whet.store.engine import Database
from whet.store.schema import decisions
from whet.store.view_schema import awaiting


def await_in(connection: Connection, database: Database, agent: str, state_key: str, seq: int) -> None:
    insert = database.insert(awaiting).values(agent=agent, state_key=state_key, seq=seq)
    newer = {"seq": insert.excluded.seq}
    statement = insert.on_conflict_do_update(
        index_elements=["agent", "state_key"], set_=newer, where=awaiting.c.seq < insert.excluded.seq
    )
    connection.execute(statement)


def still_waiting_in(connection: Connection, database: Database, agent: str, state_key: str) -> None:
    """After one of them was ruled on: the newest of those that are left, for the day the word is taken back."""
    here = (awaiting.c.agent == agent, awaiting.c.state_key == state_key)
    connection.execute(delete(awaiting).where(*here))
    pending = (decisions.c.agent == agent, decisions.c.state_key == state_key)
    left = select(func.max(decisions.c.seq)).where(*pending, decisions.c.review == Review.PENDING.value)
    seq = connection.execute(left).scalar_one()
    if seq is not None:
        await_in(connection, database, agent, state_key, seq)
