"""A service that does to its connections exactly what it is told, byte by byte, on loopback."""

import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import Event, Thread

from whet.tools.http.origin import Origin

HANGING_SECONDS = 5.0
# Takes the connection, does what it wants, and returns; then the connection is closed.
Life = Callable[["Line"], None]


@dataclass
class Line:
    """One connection, from the service's side."""

    conn: socket.socket
    over: Event
    heard: list[bytes]
    listener: socket.socket

    def leave(self) -> None:
        """Nobody listens here any more."""
        self.over.set()
        self.listener.close()

    def read(self) -> bytes:
        """One request, whole: head and as much body as Content-Length says."""
        data = b""
        while b"\r\n\r\n" not in data:
            part = self.conn.recv(65536)
            if not part:
                return data
            data += part
        head, _, body = data.partition(b"\r\n\r\n")
        sizes = [row.partition(b":")[2] for row in head.lower().split(b"\r\n") if row.startswith(b"content-length:")]
        while sizes and len(body) < int(sizes[0]):
            body += self.conn.recv(65536)
        self.heard.append(head + b"\r\n\r\n" + body)
        return self.heard[-1]

    def say(self, text: bytes) -> None:
        with suppress(BrokenPipeError, ConnectionResetError):  # the client had enough
            self.conn.sendall(text)

    def hang(self) -> None:
        self.over.wait(HANGING_SECONDS)


@dataclass
class Scripted:
    origin: Origin
    heard: list[bytes] = field(default_factory=list)
    connections: int = 0


@contextmanager
def scripted(*lives: Life) -> Iterator[Scripted]:
    """The n-th connection lives the n-th life; the last one is lived by all that follow."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        service = Scripted(Origin("http", "127.0.0.1", listener.getsockname()[1]))
        over = Event()
        thread = Thread(target=_accept, args=(listener, lives, service, over))
        thread.start()
        try:
            yield service
        finally:
            over.set()
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            thread.join()


def _accept(listener: socket.socket, lives: Sequence[Life], service: Scripted, over: Event) -> None:
    while not over.is_set():
        try:
            conn, _ = listener.accept()
        except OSError:
            return
        life = lives[min(service.connections, len(lives) - 1)]
        service.connections += 1
        with conn, suppress(ConnectionError):
            conn.settimeout(HANGING_SECONDS)
            life(Line(conn, over, service.heard, listener))


def cut(line: Line) -> None:
    """Hears the request and hangs up without a word."""
    line.read()


def free_port() -> int:
    """A port nobody listens at."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port
