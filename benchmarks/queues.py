"""How fast the training queues carry events, and whether all arrive: `python benchmarks/queues.py --json OUT`.

Every queue in one run, on real servers that this starts: 10,000 events; then again through a proxy at which every piece
of data cuts its connection with a chance of 5 %. Producers put some of it twice. `exactly` says that what arrived is
each event and nothing else. Ratios are to SQLite, which has no connection.
"""

import argparse
import json
import logging
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.postgres import PostgresServer
from tests.queues.cutting import CuttingProxy
from tests.queues.delivering import Arrived, deliver
from tests.queues.openings import opened
from tests.queues.servers import KafkaBroker, RedisServer

from whet.core.queues import Message

SEED = 1
QUEUES = ("sqlite", "postgresql", "redis", "kafka")


class Figures(NamedTuple):
    events_per_second: float
    deliveries: int
    cuts: int
    exactly: bool


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=10_000)
    parser.add_argument("--cut", type=float, default=0.05)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    logging.getLogger("psycopg").setLevel(logging.ERROR)  # it warns of every connection that is cut
    sent = [Message(f"event-{number}", b"%d " % number * 200) for number in range(arguments.events)]
    figures: dict[str, Figures] = {}
    for queue, cut in [*((queue, 0.0) for queue in QUEUES), *((queue, arguments.cut) for queue in QUEUES[1:])]:
        name = f"{queue}, {cut:.0%} cut"
        figures[name] = told = _delivered(queue, cut, sent)
        ratio = told.events_per_second / figures["sqlite, 0% cut"].events_per_second
        speed = f"{told.events_per_second:7.0f} events/s {ratio:6.2f} ×"
        print(
            f"{name:20} {speed} {told.deliveries:7} deliveries {told.cuts:4} cuts  exactly: {told.exactly}", flush=True
        )
    if arguments.json:
        arguments.json.write_text(json.dumps(_document(figures), indent=2) + "\n")
    if not all(told.exactly for told in figures.values()):
        raise SystemExit("Some events did not arrive, or others did.")


def _document(figures: dict[str, Figures]) -> dict[str, object]:
    base = figures["sqlite, 0% cut"].events_per_second
    return {name: told._asdict() | {"ratio": told.events_per_second / base} for name, told in figures.items()}


def _delivered(queue: str, cut: float, sent: list[Message]) -> Figures:
    with PLACES[queue](cut) as (kind, url, proxy):
        # Not before the first events came: Tansu does not get over a consumer that is cut off while it joins the group.
        sink = Arrived(at_first=lambda: proxy.cut(cut) if proxy else None)
        begun = time.perf_counter()
        # A batch of many pieces of data would be cut at nearly every attempt; PostgreSQL's has the most.
        at_once = 100 if kind == "store" else 500
        deliver(lambda: opened(kind, url, "events"), sent, sink, SEED, consumers=1, at_once=at_once)
        seconds = time.perf_counter() - begun
    return Figures(len(sent) / seconds, sink.deliveries, 0 if proxy is None else proxy.cuts, sink.bodies == dict(sent))


Place = tuple[str, str, CuttingProxy | None]


@contextmanager
def _sqlite(_: float) -> Iterator[Place]:
    with tempfile.TemporaryDirectory() as folder:
        yield "store", f"sqlite:///{folder}/whet.db", None


@contextmanager
def _postgres(cut: float) -> Iterator[Place]:
    server = PostgresServer()
    with ExitStack() as ending:
        ending.callback(server.stop)
        server.start()
        name = server.create()
        opened("store", server.url(name), "").close()
        proxy = ending.enter_context(CuttingProxy(server.directory / ".s.PGSQL.5432", 0.0, SEED).running())
        url = f"postgresql://postgres@127.0.0.1:{proxy.port}/{name}" if cut else server.url(name)
        yield "store", url, proxy


@contextmanager
def _redis(cut: float) -> Iterator[Place]:
    server = RedisServer()
    with ExitStack() as ending:
        ending.callback(server.stop)
        server.start()
        proxy = ending.enter_context(CuttingProxy(server.port, 0.0, SEED).running())
        yield "redis", server.url(proxy.port if cut else None), proxy


@contextmanager
def _kafka(cut: float) -> Iterator[Place]:
    with CuttingProxy(0, 0.0, SEED).running() as proxy, ExitStack() as ending:
        broker = KafkaBroker(advertised_port=proxy.port if cut else None)
        ending.callback(broker.stop)
        proxy.aim(broker.port)
        broker.start()
        yield "kafka", broker.url(), proxy


PLACES = {"sqlite": _sqlite, "postgresql": _postgres, "redis": _redis, "kafka": _kafka}

if __name__ == "__main__":
    main()
