"""`python full_disk.py LINE FOLDER STATE TIMES`: in a mount namespace of its own, fill the disk under a registry, which
is a copy of STATE, and go on opening.

Everything is on that disk, temporary files too. Prints how often the earlier policy could be opened, and what keeping
another one said.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

line, disk, state, times = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4])
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6m", "none", str(disk)], check=True)
tempfile.tempdir = str(disk)  # and nowhere else
shutil.copytree(state, disk / ".whet")

from whet.checks.registry_samples import AGENT, contents, facts, policy  # noqa: E402 - after the disk is there
from whet.core.errors import WhetError  # noqa: E402
from whet.registry.opening import opened  # noqa: E402

registry = opened(line, disk / ".whet", b"k" * 32, "shop")
first, second = policy(disk, "first"), policy(disk, "second")
digest = registry.keep(first, facts())
registry.name(AGENT, "production", digest)
try:
    with (disk / "filler").open("wb", buffering=0) as filler:
        while True:
            filler.write(bytes(4096))
except OSError as error:
    print(error.strerror)
for change in (lambda: registry.keep(second, facts()), lambda: registry.name(AGENT, "canary", digest)):
    try:
        change()
    except WhetError as refusal:
        print(refusal)
for _ in range(times):
    with opened(line, disk / ".whet", b"k" * 32, "shop") as again:
        assert contents(again.open(digest).folder) == contents(first)
        assert again.named(AGENT) == {"production": digest}
        assert again.digests() == [digest]
if line == "mlflow":  # here, because only outside pytest would MLflow tell others what it is used for
    from mlflow.telemetry import get_telemetry_client

    assert get_telemetry_client() is None
    assert [name for name in os.environ if name.startswith("MLFLOW")] == []
(disk / "filler").unlink()
assert registry.keep(second, facts()) in registry.digests()
print(f"{times} of {times}")
