"""A line of settings names the queue; what is wrong with it is said without repeating a password."""

import subprocess
import sys
from contextlib import closing

import pytest
from tests.queues.servers import KafkaBroker, RedisServer

from whet.checks.queue import keys, some
from whet.core.errors import MissingTool, RefusedInput
from whet.queues.opening import opened


def test_redis_is_opened_by_its_address(redis_server: RedisServer, name: str) -> None:
    with closing(opened(redis_server.url(), name)) as queue, closing(opened(redis_server.url(), name + "2")) as other:
        queue.put(some(2))
        assert (queue.waiting(), other.waiting()) == (2, 0)
        assert keys(queue.take("one", 10)) == ["key-0", "key-1"]


@pytest.mark.parametrize("path", ["", "/", "/named-topic"])
def test_kafka_is_opened_by_its_address(kafka_broker: KafkaBroker, name: str, path: str) -> None:
    with closing(opened(kafka_broker.url() + path, name)) as queue:
        queue.put(some(1))
        assert queue.waiting() == 1


@pytest.mark.parametrize(
    "url",
    [
        *("", "redis", "redis://", "redis:p4ss", "localhost:6379", "amqp://user:p4ss@host/", "sqlite:///p4ss"),
        *("redis://user:p4ss@[host", "kafka:///topic", "redis://:p4ss@host:port/0", "redis://:p4ss@host:99999/0"),
        *("kafka://u:p4ss@one:9092,/topic", "kafka://u:p4ss@one:9092,two:0/topic", "redis://:p4ss@host/1/2"),
        "kafka://somebody:p4ss@127.0.0.1:9/topic",
        *("kafka://u:p4ss@host:port/topic", "redis://:p4ss@host/zero"),
    ],
)
def test_what_is_no_address_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(RefusedInput, match=r"redis://host:6379/0.*kafka://host:9092/topic") as caught:
        opened(url, "name")
    assert "p4ss" not in str(caught.value)


@pytest.mark.parametrize("topic", ["a b", "a/b", "ü", "x" * 250, ".", ".."])
def test_what_is_no_topic_is_refused(topic: str) -> None:
    with pytest.raises(RefusedInput, match="topic"):
        opened(f"kafka://127.0.0.1:9/{topic}", "name")


@pytest.mark.parametrize(("url", "extra"), [("redis://host", "redis"), ("kafka://host", "kafka")])
def test_a_missing_extra_is_named(url: str, extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("whet.queues.opening.find_spec", lambda _: None)
    with pytest.raises(MissingTool, match=rf"not installed\. Run pip install 'whet\[{extra}\]'"):
        opened(url, "name")


def test_nothing_of_a_client_is_imported_before_it_is_asked_for() -> None:
    asked = "import sys, whet.queues.opening; print({'redis', 'confluent_kafka'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, timeout=120)
    assert done.stdout == "set()\n"
