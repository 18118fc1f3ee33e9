"""Random scalars within a schema's limits. What they cannot say (`not`, look-arounds) the validator decides."""

import math
import random

from whet.skills.api.contract.model import Json
from whet.skills.api.values.formats import FORMATS
from whet.skills.api.values.patterns import matching
from whet.skills.api.values.shapes import Flat
from whet.skills.api.values.slots import NOTHING, Absent

_PLAIN = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
_PUNCTUATED = _PLAIN + " !\"#$%&'()*+,-./:;<=>?@[]^_`{|}~"
_WORLDLY = _PLAIN + "äöüßéèñçøåłžščαβγδжшщя中文字日本語한국어עבריתعربي€£¥°©😀🎉"
_USUAL_LENGTH = 16
_LONGEST = 1_000_000  # a text that must be longer is not tried
_FORMAT_LIMITS = {"int32": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63 - 1)}


def scalar(kind: str, schema: Flat, rng: random.Random, plain: bool) -> Json | Absent:
    """`plain` keeps text to letters and digits, for places where a service may split or trim it."""
    if kind == "string":
        return text(schema, rng, plain)
    if kind == "integer":
        return integer(schema, rng)
    if kind == "number":
        return number(schema, rng)
    return rng.random() < 0.5 if kind == "boolean" else None


def text(schema: Flat, rng: random.Random, plain: bool) -> str | Absent:
    least, most = schema.get("minLength", 0), schema.get("maxLength")
    if least > _LONGEST:
        return NOTHING
    if "pattern" in schema:
        return matching(schema["pattern"], rng, least, most) or NOTHING
    made_by = FORMATS.get(schema.get("format", ""))
    if made_by is not None:
        return made_by(rng)
    longest = least + _USUAL_LENGTH if most is None else min(most, least + _USUAL_LENGTH)
    letters = _PLAIN if plain else rng.choices((_PLAIN, _PUNCTUATED, _WORLDLY), (7, 2, 1))[0]
    made = "".join(rng.choices(letters, k=rng.randint(min(max(least, 1), longest), longest)))
    # White space at the ends is often trimmed: the value would come back changed.
    return made if made == made.strip() else made.replace(" ", "_")


def integer(schema: Flat, rng: random.Random) -> int | Absent:
    low, high = integer_limits(schema)
    step = _whole_step(schema)
    if low is None and high is None:
        low, high = rng.choices(((0, 100), (0, 10_000), (-100, 0)), (6, 3, 1))[0]
    elif low is None:
        low = high - rng.choice((100, 10_000)) * step if high is not None else 0
    elif high is None:
        high = low + rng.choice((10, 100, 10_000)) * step
    first, last = math.ceil(low / step), (high or 0) // step
    return rng.randint(first, last) * step if first <= last else NOTHING


def integer_limits(schema: Flat) -> tuple[int | None, int | None]:
    """The least and greatest integers allowed, None where there is no limit."""
    lows = [math.ceil(schema["minimum"])] if "minimum" in schema else []
    lows += [math.floor(schema["exclusiveMinimum"]) + 1] if "exclusiveMinimum" in schema else []
    highs = [math.floor(schema["maximum"])] if "maximum" in schema else []
    highs += [math.ceil(schema["exclusiveMaximum"]) - 1] if "exclusiveMaximum" in schema else []
    return max(lows, default=None), min(highs, default=None)


def within_format(schema: Flat, value: int) -> bool:
    low, high = _FORMAT_LIMITS.get(schema.get("format", ""), (-math.inf, math.inf))
    return low <= value <= high


def _whole_step(schema: Flat) -> int:
    step = schema.get("multipleOf", 1)
    if step == int(step):
        return max(1, int(step))
    # The least whole multiple of a fraction such as 0.5 or 0.25.
    return next((k for k in range(1, 1001) if abs(k / step - round(k / step)) < 1e-9), 1)


def number(schema: Flat, rng: random.Random) -> float | int | Absent:
    step = schema.get("multipleOf")
    low, high = number_limits(schema)
    if low is None and high is None:
        low, high = rng.choices(((0.0, 100.0), (-1000.0, 1000.0)), (7, 3))[0]
    elif low is None:
        low = (high or 0.0) - 1000.0
    elif high is None:
        high = low + 1000.0
    if step:
        if not math.isfinite(low / step) or not math.isfinite((high or 0.0) / step):
            return NOTHING
        first, last = math.ceil(low / step), math.floor((high or 0.0) / step)
        return rng.randint(first, last) * step if first <= last else NOTHING
    return _between(schema, low, high or 0.0, rng)


def _between(schema: Flat, low: float, high: float, rng: random.Random) -> float | Absent:
    for _ in range(8):
        drawn = low + (high - low) * rng.random()
        short = round(drawn, 2)
        value = short if low <= short <= high else drawn
        if value != schema.get("exclusiveMinimum") and value != schema.get("exclusiveMaximum"):
            return value
    return NOTHING


def number_limits(schema: Flat) -> tuple[float | None, float | None]:
    lows = [float(schema[key]) for key in ("minimum", "exclusiveMinimum") if key in schema]
    highs = [float(schema[key]) for key in ("maximum", "exclusiveMaximum") if key in schema]
    return max(lows, default=None), min(highs, default=None)
