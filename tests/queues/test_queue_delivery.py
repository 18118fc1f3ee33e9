"""At least once through cut connections, exactly once in effect."""

import subprocess
import sys
from contextlib import closing
from pathlib import Path

from tests.postgres import PostgresServer
from tests.queues.cutting import CuttingProxy
from tests.queues.delivering import Arrived, Collected, again_and_again, deliver
from tests.queues.openings import opened
from tests.queues.servers import KafkaBroker, RedisServer

from whet.checks.store_samples import experience
from whet.core.queues import Message
from whet.store import open_store

CUT = 0.05
ROOT = Path(__file__).parents[2]


def events(count: int) -> list[Message]:
    return [Message(f"event-{number}", b"%d " % number * 50) for number in range(count)]


def experiences(count: int) -> list[Message]:
    lived = (experience(f"event-{number}") for number in range(count))
    return [Message(each.key, each.model_dump_json().encode()) for each in lived]


def killed_while_holding(messages: list[Message], *queue: str) -> None:
    """A process takes these, and is killed before it says done."""
    with closing(opened(*queue)) as putting:
        putting.put(messages)
    command = [sys.executable, "-m", "tests.queues.doomed", *queue]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        held = process.stdout.readline()
        process.kill()
    assert int(held) == len(messages)


def test_redis_delivers_ten_thousand_through_cut_connections(redis_server: RedisServer, name: str) -> None:
    sink, sent = Arrived(), events(10_000)
    with CuttingProxy(redis_server.port, CUT, seed=1).running() as proxy:
        killed_while_holding(sent[:300], "redis", redis_server.url(), name)
        deliver(lambda: opened("redis", redis_server.url(proxy.port), name), sent, sink, seed=1)
    assert sink.bodies == dict(sent)
    assert proxy.cuts > 5


def test_kafka_delivers_ten_thousand_through_cut_connections(name: str) -> None:
    sent = events(10_000)
    with CuttingProxy(0, 0.0, seed=2).running() as proxy:
        # Not before: Tansu does not get over a consumer that is cut off while it joins the group.
        sink = Arrived(at_first=lambda: proxy.cut(CUT))
        broker = KafkaBroker(advertised_port=proxy.port)
        proxy.aim(broker.port)
        try:
            broker.start()
            deliver(lambda: opened("kafka", broker.url(), name), sent, sink, seed=2, consumers=1)
        finally:
            broker.stop()
    assert sink.bodies == dict(sent)
    assert proxy.cuts > 5


def test_postgres_delivers_through_cut_connections(postgres: PostgresServer, postgres_url: str) -> None:
    sent = experiences(600)
    database = postgres_url.partition("?")[0].rpartition("/")[2]
    with CuttingProxy(postgres.directory / ".s.PGSQL.5432", CUT, seed=3).running() as proxy:
        url = f"postgresql://postgres@127.0.0.1:{proxy.port}/{database}"
        with again_and_again(lambda: open_store(url)) as store:
            deliver(lambda: opened("store", url, ""), sent, Collected(store), seed=3, at_once=100)
    assert proxy.cuts > 5
    with open_store(postgres_url) as store:
        assert sorted(Collected(store).keys()) == sorted(key for key, _ in sent)


def test_the_stores_own_file_delivers_although_consumers_are_killed(tmp_path: Path) -> None:
    sent, url = experiences(1_000), f"sqlite:///{tmp_path / 'whet.db'}"
    with open_store(url) as store:
        sink = Collected(store)
        killed_while_holding(sent[:300], "store", url, "")
        deliver(lambda: opened("store", url, ""), sent, sink, seed=4)
        assert sorted(sink.keys()) == sorted(key for key, _ in sent)
