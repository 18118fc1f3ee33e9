"""How bad files are refused: one sentence that names the file, and what to do."""

from whet.core.errors import RefusedInput
from whet.core.text import printable

WRITE_IT_ANEW = "Write it anew, or leave it out with --skip-bad."


class BadResults(RefusedInput):
    """A file that is no usable results file; nothing of it is taken."""

    def __init__(self, file: str, trouble: str, remedy: str) -> None:
        super().__init__(f"{file} {trouble}.", remedy)
        self.file = file
        self.trouble = trouble


def bad(file: str, trouble: str, remedy: str = WRITE_IT_ANEW) -> BadResults:
    return BadResults(printable(file, 300), trouble, remedy)
