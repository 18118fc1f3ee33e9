"""A real TCP proxy that cuts connections: at every piece of data that passes, either before it is sent on or after, so
that requests are lost and answers too."""

import asyncio
import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PIECE_BYTES = 1 << 16
_PATIENCE_SECONDS = 60


class CuttingProxy:
    """`target` is a port of this machine or the path of a unix socket."""

    def __init__(self, target: int | Path, share: float, seed: int) -> None:
        self.port = 0
        self.connections = self.cuts = 0
        self._target, self._share = target, share
        self._random = random.Random(seed)
        self._ready, self._stop = threading.Event(), asyncio.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)

    @contextmanager
    def running(self) -> Iterator["CuttingProxy"]:
        self._thread.start()
        assert self._ready.wait(_PATIENCE_SECONDS)
        try:
            yield self
        finally:
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(_PATIENCE_SECONDS)

    def aim(self, target: int) -> None:
        """For a server that must know our port before it starts."""
        self._target = target

    def cut(self, share: float) -> None:
        """From now on."""
        self._share = share

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        server = await asyncio.start_server(self._passed_on, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()

    async def _passed_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            far_reader, far_writer = await self._far_side()
        except OSError:
            writer.transport.abort()
            return
        there = asyncio.ensure_future(self._pump(reader, far_writer))
        back = asyncio.ensure_future(self._pump(far_reader, writer))
        try:
            await asyncio.wait((there, back), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task, side in ((there, writer), (back, far_writer)):
                task.cancel()
                side.transport.abort()

    async def _far_side(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if isinstance(self._target, Path):
            return await asyncio.open_unix_connection(str(self._target))
        return await asyncio.open_connection("127.0.0.1", self._target)

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Until one side closes, or fate cuts."""
        try:
            while piece := await reader.read(_PIECE_BYTES):
                cut = self._random.random() < self._share
                self.cuts += cut
                if cut and self._random.random() < 0.5:
                    return
                writer.write(piece)
                await writer.drain()
                if cut:
                    return
        except OSError:
            return
