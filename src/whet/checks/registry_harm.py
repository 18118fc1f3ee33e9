"""What a `Registry` must bear: files changed behind its back, processes killed, several at once.

Run `CHECKS` like those of `whet.checks.registry`.
"""

import os
import shutil
import signal
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from itertools import count
from pathlib import Path

from whet.checks.expectations import expect, expect_error
from whet.checks.registry import Check, ClosingRegistry, Subject
from whet.checks.registry_samples import AGENT, contents, facts, policy
from whet.core.errors import RefusedInput

Harm = Callable[[Path], str]  # does something to the artefact's folder; which file it is about
_POLICY = "files/policy.json"
_KILLS = 5


def changed(folder: Path) -> str:
    data = bytearray((folder / _POLICY).read_bytes())
    data[0] ^= 1
    (folder / _POLICY).write_bytes(data)
    return _POLICY


def cut_short(folder: Path) -> str:
    (folder / _POLICY).write_bytes((folder / _POLICY).read_bytes()[:-1])
    return _POLICY


def longer(folder: Path) -> str:
    (folder / _POLICY).write_bytes((folder / _POLICY).read_bytes() + b" ")
    return _POLICY


def added(folder: Path) -> str:
    (folder / "files" / "more.bin").write_bytes(b"")
    return "files/more.bin"


def missing(folder: Path) -> str:
    (folder / _POLICY).unlink()
    return _POLICY


def linked(folder: Path) -> str:
    """To something that everybody may read."""
    (folder / _POLICY).unlink()
    (folder / _POLICY).symlink_to("/etc/hostname" if Path("/etc/hostname").exists() else "/etc/hosts")
    return _POLICY


def unsigned(folder: Path) -> str:
    (folder / "signature").unlink()
    return "signature"


def badly_signed(folder: Path) -> str:
    (folder / "signature").write_bytes(b"trust me")
    return "signature"


def rewritten(folder: Path) -> str:
    manifest = folder / "manifest.json"
    manifest.write_bytes(manifest.read_bytes().replace(b"-1.25", b"99.75"))
    return "manifest.json"


def leading_upwards(folder: Path) -> str:
    manifest = folder / "manifest.json"
    manifest.write_bytes(manifest.read_bytes().replace(_POLICY.encode(), b"files/../../../../x"))
    return "manifest.json"


def huge(folder: Path) -> str:
    """A file of a terabyte, without a byte on the disk."""
    with (folder / "manifest.json").open("r+b") as file:
        file.truncate(1 << 40)
    return "manifest.json"


HARMS: list[Harm] = [
    *(changed, cut_short, longer, added, missing, linked),
    *(unsigned, badly_signed, rewritten, leading_upwards, huge),
]


def harmed_artefacts_are_refused_by_name(subject: Subject, below: Path) -> None:
    refused_by_name(subject, below, HARMS)


def refused_by_name(subject: Subject, below: Path, harms: Sequence[Harm]) -> None:
    with closing(subject.opened()) as registry:
        for harm in harms:
            digest = registry.keep(policy(below, harm.__name__), facts())
            name = harm(subject.folder(digest))
            try:
                registry.open(digest)
            except RefusedInput as refusal:
                expect(name in str(refusal) and digest[:12] in str(refusal), True, f"{name} in {refusal}")
            else:
                raise AssertionError(f"{harm.__name__}: it was handed out")


def another_artefact_in_its_place_is_refused(subject: Subject, below: Path) -> None:
    """Ours, signed and whole, but not the one that was asked for."""
    with closing(subject.opened()) as registry:
        old, new = (registry.keep(policy(below, name), facts()) for name in ("old", "new"))
        folder = subject.folder(new)
        shutil.rmtree(folder)
        shutil.copytree(subject.folder(old), folder)
        expect_error(RefusedInput, registry.open, new)
        expect(contents(registry.open(old).folder), contents(below / "old"), "the other one")


def what_others_signed_is_refused(subject: Subject, below: Path) -> None:
    with closing(subject.stranger()) as stranger:
        digest = stranger.keep(policy(below, "theirs"), facts())
        expect(contents(stranger.open(digest).folder), contents(below / "theirs"), "for them it is right")
    with closing(subject.opened()) as registry:
        try:
            registry.open(digest)
        except RefusedInput as refusal:
            expect("another key" in str(refusal), True, f"another key in {refusal}")
        else:
            raise AssertionError("it was handed out")
        expect_error(RefusedInput, registry.name, AGENT, "production", digest)


def the_killed_leave_nothing_half_done(subject: Subject, below: Path) -> None:
    """kill -9 in the middle: what was acknowledged is there, whatever is listed can be opened, and keeping goes on."""
    with closing(subject.opened()) as registry:
        first = registry.keep(policy(below, "first"), facts())
    acknowledged = {first}
    for number in range(_KILLS):
        acknowledged.update(_killed(subject.opened, below / f"killed{number}", 0.02 * number))
    with closing(subject.opened()) as registry:
        listed = registry.digests()
        expect(acknowledged - set(listed), set(), "acknowledged and not listed")
        for digest in listed:
            registry.open(digest)
        expect(registry.named(AGENT)["production"] in listed, True, "the alias points to one of them")
        for number in range(_KILLS):
            under_way = max((below / f"killed{number}").iterdir(), key=lambda folder: int(folder.name))
            if (under_way / "name.txt").exists():
                registry.open(registry.keep(under_way, facts()))


def _killed(opened: Callable[[], ClosingRegistry], below: Path, after_seconds: float) -> list[str]:
    """Digests that a process acknowledged which was killed so long after its first one."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        with suppress(BaseException):
            _keep_forever(opened(), below, writing)
        os._exit(1)
    os.close(writing)
    first = os.read(reading, 1 << 16).decode()
    time.sleep(after_seconds)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    with os.fdopen(reading) as acknowledged:
        digests = (first + acknowledged.read()).split()
    expect(os.WTERMSIG(status), signal.SIGKILL, "the process failed by itself; it died of signal")
    return digests


def _keep_forever(registry: ClosingRegistry, below: Path, writing: int) -> None:
    for number in count():
        digest = registry.keep(policy(below, str(number)), facts())
        registry.name(AGENT, "production", digest)
        os.write(writing, f"{digest}\n".encode())


def several_at_once_lose_nothing(subject: Subject, below: Path) -> None:
    """Four openings, as four processes have: each keeps its own and one that all keep."""
    folders = [policy(below, name) for name in ("a", "b", "c", "d", "same")]

    def work(number: int) -> None:
        with closing(subject.opened()) as registry:
            digest = registry.keep(folders[number], facts(agent=f"agent-{number}"))
            registry.name(f"agent-{number}", "candidate", digest)
            registry.keep(folders[-1], facts())

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    with closing(subject.opened()) as registry:
        expect(len(registry.digests()), 5, "artefacts")
        expect([len(registry.named(f"agent-{number}")) for number in range(4)], [1] * 4, "aliases")


CHECKS: list[Check] = [
    harmed_artefacts_are_refused_by_name,
    another_artefact_in_its_place_is_refused,
    what_others_signed_is_refused,
    the_killed_leave_nothing_half_done,
    several_at_once_lose_nothing,
]
