"""`whet serve` in a process of its own."""

import re
import signal
import subprocess
from pathlib import Path

from tests.cli.command_line import WHET, environment


class Serving:
    """Everything it said is read when it has ended."""

    def __init__(self, folder: Path, **environ: str) -> None:
        self.folder = folder
        self.errors = folder / "stderr"
        command = [str(WHET), "serve", "--port", "0", "-C", str(folder)]
        with self.errors.open("w") as errors:
            self.process = subprocess.Popen(
                command, env=environment(**environ), stdout=subprocess.PIPE, stderr=errors, text=True
            )
        self.said = [self._line(), self._line()]
        self.address = self.said[0].rpartition(" ")[2]

    @property
    def port(self) -> int:
        return int(self.address.rpartition(":")[2])

    def _line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().rstrip("\n")

    def first_key(self) -> str:
        while not (found := re.search(r"whet_\S+", self._line())):
            pass
        return found[0]

    def end(self, how: signal.Signals) -> tuple[int, str]:
        self.process.send_signal(how)
        said, _ = self.process.communicate(timeout=30)
        return self.process.returncode, said

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()
