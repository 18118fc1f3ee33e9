"""Run by Alembic, on the connection and inside the transaction that `whet.store.migrating` opened."""

from alembic import context

from whet.store.schema import VERSION_TABLE, metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=VERSION_TABLE,
    render_as_batch=True,
)
context.run_migrations()
