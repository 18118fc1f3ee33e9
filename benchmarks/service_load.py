"""Requests as fast as they are answered, or at a fixed rate, over kept-open connections."""

import asyncio
import json
import time
from dataclasses import dataclass
from typing import Any

from benchmarks.service_served import Served

from whet.service.rest.samples import STATE


@dataclass
class Connection:
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    head: str

    @classmethod
    async def to(cls, served: Served) -> "Connection":
        reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
        head = f"Host: 127.0.0.1\r\nAuthorization: Bearer {served.key}\r\nContent-Type: application/json\r\n"
        return cls(reader, writer, head)

    async def post(self, path: str, body: bytes) -> tuple[int, bytes]:
        self.writer.write(f"POST {path} HTTP/1.1\r\n{self.head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        told = await self.reader.readuntil(b"\r\n\r\n")
        small = told.lower()
        begin = small.index(b"content-length: ") + len(b"content-length: ")
        length = int(small[begin : small.index(b"\r", begin)])
        return int(told[9:12]), await self.reader.readexactly(length)

    async def post_json(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        status, answer = await self.post(path, json.dumps(body).encode())
        if status >= 300:
            raise SystemExit(f"{path} answered {status}: {answer[:500]!r}")
        told: dict[str, Any] = json.loads(answer)
        return told


QUESTION = json.dumps({"agent": "test-executor", "state": STATE}).encode()


async def per_second(served: Served, seconds: float, connections: int = 8) -> float:
    """Answers a second, everybody asking again as soon as answered."""
    answered = 0
    end = time.perf_counter() + seconds

    async def ask(connection: Connection) -> None:
        nonlocal answered
        while time.perf_counter() < end:
            status, _ = await connection.post("/predict", QUESTION)
            assert status == 200
            answered += 1

    await asyncio.gather(*[ask(await Connection.to(served)) for _ in range(connections)])
    return answered / seconds


async def latencies_ms(served: Served, rate: float, seconds: float, connections: int = 32) -> list[float]:
    """Sorted; each from the moment it was due, so that waiting for a turn counts (no coordinated omission)."""
    free: asyncio.Queue[Connection] = asyncio.Queue()
    for _ in range(connections):
        free.put_nowait(await Connection.to(served))
    taken: list[float] = []

    async def ask(due: float) -> None:
        connection = await free.get()
        status, _ = await connection.post("/predict", QUESTION)
        assert status == 200
        taken.append(1000.0 * (time.perf_counter() - due))
        free.put_nowait(connection)

    begun, asking = time.perf_counter(), set()
    for number in range(int(rate * seconds)):
        due = begun + number / rate
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        asking.add(task := asyncio.create_task(ask(due)))
        task.add_done_callback(asking.discard)
    await asyncio.gather(*asking)
    return sorted(taken)
