"""The demonstration of continuous learning: the same seed gives the same weeks, whatever else is by chance."""

import os
import re
import subprocess
import sys
from html import unescape
from pathlib import Path

from examples.learning.chart import Day, Event, chart

# Two short days, one of them that on which the project changes: decisions, training, proof, and what is told of them.
SHORT = """
import json, sys
from pathlib import Path
from examples.learning.weeks import AGENT, SETTINGS, begun

quick = SETTINGS.replace("min_experiences = 1500", "min_experiences = 20\\nmin_hours = 0.0")
with begun(Path(sys.argv[1]), int(sys.argv[2]), quick, runs_a_day=12) as weeks:
    for day in (0, 19):
        weeks.live(day)
    decided = [[d.id, d.action, d.probability, d.policy] for d in weeks.store.decisions.recent(limit=1000)]
    lived = [[e.key, e.reward.credited] for e in weeks.store.experiences.recent(AGENT, 1000)]
    made = [[c.number, c.artefact, c.stage, c.why] for c in weeks.store.candidates.all()]
Path(sys.argv[3]).write_text(json.dumps([weeks.days, weeks.events, decided, lived, made], indent=1))
"""


def _weeks(tmp_path: Path, seed: int, hashes: int) -> str:
    """In a process and a folder of its own, where sets and dicts of other hashes have another order."""
    out = tmp_path / f"{seed}-{hashes}.json"
    command = [sys.executable, "-c", SHORT, str(tmp_path / f"demo-{seed}-{hashes}"), str(seed), str(out)]
    root = Path(__file__).parents[2]
    told = subprocess.run(
        command,
        cwd=root,
        env=os.environ | {"PYTHONHASHSEED": str(hashes)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert told.returncode == 0, told.stderr
    return out.read_text()


def test_the_same_seed_gives_the_same_weeks(tmp_path: Path) -> None:
    once = _weeks(tmp_path, seed=1, hashes=1)
    assert _weeks(tmp_path, seed=1, hashes=2) == once
    assert '"trained"' in once or '"rejected"' in once  # a candidate was made
    assert "planted: the project changes" in once
    assert _weeks(tmp_path, seed=2, hashes=1) != once


def test_the_picture_tells_every_event_to_its_end_within_its_edges() -> None:
    long = "candidate 2 is at 10 % since 2 d: " + "90 decisions & more, " * 12 + "to the very end"
    events = [Event(1, long, "canary"), Event(2, "a short one", "drift"), Event(2, "not shown", "trained")]
    drawn = chart([Day(0, 1.0), Day(1, 2.0), Day(2, 1.5)], events)
    lines = [(int(y), unescape(told)) for y, told in re.findall(r"<text x='42' y='(\d+)'>(.*?)</text>", drawn)]
    assert " ".join(told for _, told in lines) == f"day 1: {long} day 2: a short one"
    assert max(len(told) for _, told in lines) <= 120
    assert [y for y, _ in lines] == sorted({y for y, _ in lines})  # none upon another
    height = re.search(r"viewBox='0 0 960 (\d+)'", drawn)
    assert height
    assert lines[-1][0] < int(height[1])
