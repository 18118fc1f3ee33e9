"""A typed client for `whet serve`.

from whet.client import Client

with Client("http://127.0.0.1:8321", key="whet_…") as whet:
    run = whet.begin_run(budget_seconds=600)
    asked = whet.predict("test-executor", state, run=run, keep=True)
    outcome = do(asked.action)
    whet.tell(asked, outcome)
    whet.finish_run(run)
"""

from whet.client.calling import Client, ServiceError

__all__ = ["Client", "ServiceError"]
