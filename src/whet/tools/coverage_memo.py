"""The last coverage report, kept beside the store, so that unchanged code need not be measured again."""

import json
from pathlib import Path

from pydantic import ValidationError

from whet.core.records import Record
from whet.tools.coverage_data import CoverageReport


class CoverageMemo(Record):
    """A report with the code version it is true for, and the line coverage measured before it."""

    code_version: str
    report: CoverageReport
    previous_line_percent: float | None = None

    @classmethod
    def load(cls, path: Path) -> "CoverageMemo | None":
        """None when there is none, or when it cannot be read: it is only ever a saving, never a source."""
        try:
            return cls.model_validate_json(path.read_bytes())
        except (OSError, ValidationError):
            return None

    def save(self, path: Path) -> None:
        """Whole or not at all: written beside, then moved into place."""
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        part.write_text(json.dumps(self.model_dump(mode="json")))
        part.replace(path)
