"""Stock, reserved and taken by many threads at once, and the worker that books deliveries."""

import queue
import threading
import time
from types import TracebackType
from typing import Self


class OutOfStock(RuntimeError):
    """Less is free than was asked for."""


class Stock:
    """How much of each SKU is on the shelf, and how much of it is promised."""

    def __init__(self, levels: dict[str, int] | None = None) -> None:
        self._levels = dict(levels or {})
        self._reserved: dict[str, int] = {}
        self._lock = threading.Lock()

    def level(self, sku: str) -> int:
        with self._lock:
            return self._levels.get(sku, 0)

    def free(self, sku: str) -> int:
        with self._lock:
            return self._free(sku)

    def receive(self, sku: str, quantity: int) -> None:
        if quantity < 1:
            raise ValueError(f"a delivery has at least one piece, not {quantity}")
        with self._lock:
            self._levels[sku] = self._levels.get(sku, 0) + quantity

    def reserve(self, sku: str, quantity: int) -> None:
        with self._lock:
            if self._free(sku) < quantity:
                raise OutOfStock(f"{quantity} × {sku} wanted, {self._free(sku)} free")
            self._reserved[sku] = self._reserved.get(sku, 0) + quantity

    def release(self, sku: str, quantity: int) -> None:
        with self._lock:
            self._release(sku, quantity)

    def take(self, sku: str, quantity: int) -> None:
        """Hand over what was reserved."""
        with self._lock:
            self._release(sku, quantity)
            self._levels[sku] -= quantity

    def low(self, threshold: int = 3) -> list[str]:
        with self._lock:
            return sorted(sku for sku in self._levels if self._free(sku) < threshold)

    def _release(self, sku: str, quantity: int) -> None:
        if self._reserved.get(sku, 0) < quantity:
            raise ValueError(f"only {self._reserved.get(sku, 0)} × {sku} are reserved")
        self._reserved[sku] -= quantity

    def _free(self, sku: str) -> int:
        return self._levels.get(sku, 0) - self._reserved.get(sku, 0)


class DeliveryDesk:
    """Books announced deliveries in the background, all that wait on each beat of its clock."""

    def __init__(self, stock: Stock, beat_seconds: float = 0.06) -> None:
        self._stock = stock
        self._beat_seconds = beat_seconds
        self._waiting: queue.SimpleQueue[tuple[str, int]] = queue.SimpleQueue()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)

    def announce(self, sku: str, quantity: int) -> None:
        self._waiting.put((sku, quantity))

    def idle(self) -> bool:
        return self._waiting.empty()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.set()
        self._thread.join()

    def _work(self) -> None:
        while not self._closing.wait(self._until_next_beat()):
            self._book_waiting()
        self._book_waiting()

    def _book_waiting(self) -> None:
        while not self._waiting.empty():
            sku, quantity = self._waiting.get()
            self._stock.receive(sku, quantity)

    def _until_next_beat(self) -> float:
        return self._beat_seconds - time.monotonic() % self._beat_seconds
