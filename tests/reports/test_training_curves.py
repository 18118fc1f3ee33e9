"""The picture of a training: what was measured is drawn, what was not is said."""

import re
from xml.etree import ElementTree as ET

import pytest

from whet.reports.training_curves import _ticks, render_training

ROWS = [
    {"step": step, "episode_reward": step / 100, "episode_length": 1.0, "loss": 1 / step, "q_value": -2.0,
     "learning_rate": 1e-3}
    for step in range(8, 808, 8)
]  # fmt: skip


def test_it_draws_what_was_measured_and_says_what_was_not() -> None:
    page = render_training("Training <b>", "dqn & co.", ROWS)
    drawn = re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL)
    assert len(drawn) == 5
    assert "Training &lt;b&gt;" in page
    assert page.count("not measured: this learner has none") == 1  # ε
    assert "entropy" not in page
    for svg in drawn:
        picture = ET.fromstring(svg)  # noqa: S314 - our own
        xs, ys = zip(
            *(
                tuple(map(float, point.split(",")))
                for line in picture.iter("polyline")
                for point in line.attrib["points"].split()
            ),
            strict=True,
        )
        assert min(xs) >= 58
        assert max(xs) <= 408
        assert min(ys) >= 12
        assert max(ys) <= 180
    assert "http" not in page
    assert "prefers-color-scheme:dark" in page


@pytest.mark.parametrize("values", [[0.0], [-3.0], [5.0, 5.0], [1e-4, 3e-4], [-1e6, 2e6], [0.1 + 0.2, 0.3]])
def test_ticks_enclose_what_is_drawn_and_are_few(values: list[float]) -> None:
    ticks = _ticks(values)
    assert ticks[0] <= min(values) + 1e-12
    assert ticks[-1] >= max(values) - 1e-12
    assert (2 if max(values) - min(values) < 1e-9 else 4) <= len(ticks) <= 7
