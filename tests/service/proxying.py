"""A reverse proxy as simple as one can be: each connection goes to the next of several servers, or to the one after it
if nobody answers there."""

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_CHUNK = 65_536


class Proxy:
    """`ports` may be changed while it is at work."""

    def __init__(self, ports: list[int]) -> None:
        self.ports = ports
        self.address = ""
        self._turn = 0

    async def forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            upstream = await self._reached()
        except OSError:
            writer.close()
            return
        await asyncio.gather(_copied(reader, upstream[1]), _copied(upstream[0], writer))

    async def _reached(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        for _ in self.ports[1:]:
            with contextlib.suppress(OSError):
                return await asyncio.open_connection("127.0.0.1", self._next())
        return await asyncio.open_connection("127.0.0.1", self._next())

    def _next(self) -> int:
        self._turn += 1
        return self.ports[self._turn % len(self.ports)]


async def _copied(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while chunk := await reader.read(_CHUNK):
            writer.write(chunk)
            await writer.drain()
    writer.close()


@contextmanager
def proxied(ports: list[int]) -> Iterator[Proxy]:
    """In a thread of its own."""
    loop, proxy = asyncio.new_event_loop(), Proxy(ports)
    server = loop.run_until_complete(asyncio.start_server(proxy.forward, "127.0.0.1", 0))
    proxy.address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        yield proxy
    finally:
        loop.call_soon_threadsafe(server.close)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()
