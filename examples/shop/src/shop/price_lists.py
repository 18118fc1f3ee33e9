"""Suppliers' price lists: CSV with semicolons, one product a row."""

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from shop.catalogue import Catalogue, Product
from shop.prices import BadAmount, euros

COLUMNS = ("sku", "name", "price", "category", "weight", "tags")


class BadPriceList(ValueError):
    """The file as a whole cannot be read."""


@dataclass
class Report:
    """What an import did; rows are numbered as an editor shows them."""

    added: int = 0
    repriced: int = 0
    unchanged: int = 0
    problems: list[str] = field(default_factory=list)


def load(path: Path, catalogue: Catalogue) -> Report:
    return read(_text(path.read_bytes()), catalogue)


def read(text: str, catalogue: Catalogue) -> Report:
    report = Report()
    for number, row in _rows(text):
        try:
            _take(row, catalogue, report)
        except (BadAmount, ValueError) as error:
            report.problems.append(f"row {number}: {error}")
    return report


def _text(raw: bytes) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        pass
    try:
        return raw.decode("cp1252")
    except UnicodeDecodeError as error:
        raise BadPriceList(f"neither UTF-8 nor Windows-1252: byte {error.start}") from None


def _rows(text: str) -> Iterator[tuple[int, dict[str, str]]]:
    reader = csv.reader(io.StringIO(text), delimiter=";")
    head = next(reader, None)
    if head is None:
        raise BadPriceList("the price list is empty")
    missing = [column for column in COLUMNS[:3] if column not in head]
    if missing:
        raise BadPriceList(f"columns are missing: {', '.join(missing)}")
    for values in reader:
        if any(value.strip() for value in values):
            yield reader.line_num, dict(zip(head, values, strict=False))


def _take(row: dict[str, str], catalogue: Catalogue, report: Report) -> None:
    sku, price = row["sku"].strip().upper(), euros(row["price"])
    if sku not in catalogue:
        catalogue.add(_product(sku, row))
        report.added += 1
    elif catalogue.get(sku).net_price == price:
        report.unchanged += 1
    else:
        catalogue.reprice(sku, price)
        report.repriced += 1


def _product(sku: str, row: dict[str, str]) -> Product:
    weight = row.get("weight", "").strip()
    if weight and not weight.isdigit():
        raise ValueError(f"the weight {weight!r} is not a number of grams")
    return Product(
        sku=sku,
        name=row["name"].strip(),
        net_price=euros(row["price"]),
        category=row.get("category", "").strip() or "misc",
        weight_grams=int(weight or 0),
        tags=frozenset(tag.strip() for tag in row.get("tags", "").split(",") if tag.strip()),
    )
