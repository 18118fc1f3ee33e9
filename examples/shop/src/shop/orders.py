"""From a full cart to a delivered, and sometimes refunded, order."""

from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum

from shop.cart import Cart, Line
from shop.inventory import OutOfStock, Stock
from shop.shipping import cost


class Status(StrEnum):
    PLACED = "placed"
    PAID = "paid"
    SENT = "sent"
    CANCELLED = "cancelled"
    REFUNDED = "refunded"


NEXT = {
    Status.PLACED: {Status.PAID, Status.CANCELLED},
    Status.PAID: {Status.SENT, Status.CANCELLED, Status.REFUNDED},
    Status.SENT: {Status.REFUNDED},
    Status.CANCELLED: set(),
    Status.REFUNDED: set(),
}


class NotAllowed(RuntimeError):
    """A step that an order in this status cannot take."""


@dataclass
class Order:
    number: int
    lines: tuple[Line, ...]
    goods: Decimal
    tax: Decimal
    shipping: Decimal
    status: Status = Status.PLACED
    refunded: Decimal = Decimal("0.00")
    log: list[str] = field(default_factory=list)

    @property
    def total(self) -> Decimal:
        return self.goods + self.tax + self.shipping

    def become(self, status: Status) -> None:
        if status not in NEXT[self.status]:
            raise NotAllowed(f"order {self.number} is {self.status}; it cannot become {status}")
        self.log.append(f"{self.status} → {status}")
        self.status = status


class Desk:
    """Takes orders and keeps the stock in step with them."""

    def __init__(self, stock: Stock) -> None:
        self._stock = stock
        self._orders: list[Order] = []

    def place(self, cart: Cart, country: str = "DE") -> Order:
        lines = tuple(cart.lines())
        if not lines:
            raise ValueError("the cart is empty")
        self._reserve(lines)
        shipping = cost(cart.net_total(), cart.weight_grams(), country)
        order = Order(len(self._orders) + 1, lines, cart.net_total(), cart.tax(), shipping)
        self._orders.append(order)
        return order

    def pay(self, order: Order, amount: Decimal) -> None:
        if amount != order.total:
            raise ValueError(f"order {order.number} costs {order.total}, not {amount}")
        order.become(Status.PAID)

    def send(self, order: Order) -> None:
        order.become(Status.SENT)
        for line in order.lines:
            self._stock.take(line.product.sku, line.quantity)

    def cancel(self, order: Order) -> None:
        order.become(Status.CANCELLED)
        for line in order.lines:
            self._stock.release(line.product.sku, line.quantity)

    def refund(self, order: Order, amount: Decimal | None = None) -> Decimal:
        """Pay back all, or a part, of an order; what was not sent yet becomes free again."""
        left = order.total - order.refunded
        wanted = left if amount is None else amount
        if wanted <= 0 or wanted > left:
            raise ValueError(f"between 0.01 and {left} can be refunded, not {wanted}")
        if wanted < left:
            order.refunded += wanted
            order.log.append(f"refunded {wanted}")
            return wanted
        if order.status is Status.PAID:
            for line in order.lines:
                self._stock.release(line.product.sku, line.quantity)
        order.become(Status.REFUNDED)
        order.refunded = order.total
        return wanted

    def _reserve(self, lines: tuple[Line, ...]) -> None:
        done: list[Line] = []
        try:
            for line in lines:
                self._stock.reserve(line.product.sku, line.quantity)
                done.append(line)
        except OutOfStock:
            for line in done:
                self._stock.release(line.product.sku, line.quantity)
            raise
