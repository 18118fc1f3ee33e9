"""Money: amounts are Decimals in euros, never floats."""

from decimal import ROUND_DOWN, Decimal, InvalidOperation

CENT = Decimal("0.01")
VAT_RATES = {"standard": Decimal("0.19"), "reduced": Decimal("0.07"), "none": Decimal("0")}


class BadAmount(ValueError):
    """Text that is not an amount of money."""


def euros(text: str | int | Decimal) -> Decimal:
    """Read an amount: "12.50", "12,50", "€ 12,50" or "1.234,50"."""
    if isinstance(text, int | Decimal):
        return Decimal(text).quantize(CENT)
    cleaned = text.replace("€", "").replace("\u00a0", "").strip()
    if "," in cleaned:
        cleaned = cleaned.replace(".", "").replace(",", ".")
    try:
        amount = Decimal(cleaned)
    except InvalidOperation:
        raise BadAmount(f"{text!r} is not an amount of money") from None
    if not amount.is_finite():
        raise BadAmount(f"{text!r} is not a finite amount")
    return amount.quantize(CENT)


def vat(net: Decimal, rate: str = "standard") -> Decimal:
    """The tax on a net amount, rounded commercially to the cent."""
    if rate not in VAT_RATES:
        raise KeyError(f"unknown VAT rate {rate!r}; known: {', '.join(VAT_RATES)}")
    return (net * VAT_RATES[rate]).quantize(CENT)


def gross(net: Decimal, rate: str = "standard") -> Decimal:
    return net + vat(net, rate)


def share(amount: Decimal, parts: int) -> list[Decimal]:
    """Split an amount into `parts` that differ by at most a cent and add up exactly."""
    if parts < 1:
        raise ValueError(f"cannot split into {parts} parts")
    base = (amount / parts).quantize(CENT, rounding=ROUND_DOWN)
    cents_left = int((amount - base * parts) / CENT)
    return [base + CENT if position < cents_left else base for position in range(parts)]


def show(amount: Decimal) -> str:
    """An amount as people write it here: 1.234,50 €."""
    sign = "-" if amount < 0 else ""
    whole, cents = f"{abs(amount):.2f}".split(".")
    groups = []
    while len(whole) > 3:
        whole, group = whole[:-3], whole[-3:]
        groups.insert(0, group)
    return f"{sign}{'.'.join([whole, *groups])},{cents} €"
