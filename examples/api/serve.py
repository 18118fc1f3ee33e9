"""`python -m examples.api.serve [--port N] [--faults all|none|name,name] [--breaking] [--supervised]`.

Listens on the loopback interface only, prints its address, and serves until it is ended (Ctrl-C, SIGTERM). All it knows
is in memory: starting again is a fresh library. Supervised, it is started again when it dies.
"""

import argparse
import multiprocessing
import os
import signal
import socket
import sys


def main() -> None:
    options = _options()
    os.environ["FAULTS"] = options.faults
    os.environ["BREAKING"] = "1" if options.breaking else "0"
    from examples.api.app import app  # noqa: F401 - it reads the environment; refuses unknown faults

    listener = socket.create_server(("127.0.0.1", options.port), backlog=128)
    # Inherited by what it accepts; asyncio does not set it for a socket it was given, and answers would wait 40 ms.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    if options.supervised:
        _supervise(listener)
    else:
        _serve(listener)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=0, help="0, the default: any free one")
    parser.add_argument("--faults", default=os.environ.get("FAULTS", "none"), help="all, none, or names with commas")
    parser.add_argument("--breaking", action="store_true", default=os.environ.get("BREAKING", "") not in ("", "0"))
    parser.add_argument("--supervised", action="store_true", help="start it again when it dies")
    return parser.parse_args()


def _serve(listener: socket.socket) -> None:
    import uvicorn
    from examples.api.app import app

    config = uvicorn.Config(app, http="h11", ws="none", log_level="warning", timeout_graceful_shutdown=1)
    uvicorn.Server(config).run(sockets=[listener])


def _supervise(listener: socket.socket) -> None:
    """The socket stays open between two lives, so that who comes in between waits instead of being refused."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda caught, _: sys.exit(128 + caught))
    while True:
        # Forked, not spawned: the application is imported already, and the next life begins at once.
        # A daemon: it is ended and waited for when this process ends.
        child = multiprocessing.get_context("fork").Process(target=_live, args=(listener,), daemon=True)
        child.start()
        child.join()
        print(f"The service died with status {child.exitcode}; starting it again.", file=sys.stderr, flush=True)


def _live(listener: socket.socket) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)  # not the supervisor's
    _serve(listener)


if __name__ == "__main__":
    main()
