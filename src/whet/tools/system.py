"""What this machine has to give, as far as this process may use it."""

import os
from pathlib import Path

_CGROUPS = Path("/sys/fs/cgroup")
_MEBIBYTE = 1024 * 1024


def cpu_count() -> int:
    """Cores this process may use: affinity and container quota considered; at least 1."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    quota = _cpu_quota()
    return usable if quota is None else max(1, min(usable, int(quota)))


def available_memory_mb() -> float | None:
    """Memory that could be used now without swapping, within the container's limit; None where it cannot be known."""
    known = [mb for mb in (_machine_memory_mb(), _container_memory_mb()) if mb is not None]
    return min(known, default=None)


def in_ci() -> bool:
    return os.environ.get("CI", "").strip().lower() not in {"", "0", "false", "no"}


def _machine_memory_mb() -> float | None:
    for line in _text(Path("/proc/meminfo")).splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) / 1024
    return None


def _container_memory_mb() -> float | None:
    rooms = []
    for group in _groups("memory"):
        limit = _number(group / "memory.max") or _number(group / "memory.limit_in_bytes")
        used = _number(group / "memory.current") or _number(group / "memory.usage_in_bytes")
        if limit is not None and used is not None:
            rooms.append(max(0.0, limit - used + _reclaimable(group)) / _MEBIBYTE)
    return min(rooms, default=None)


def _reclaimable(group: Path) -> float:
    """Page cache that the kernel gives back under pressure is not used up."""
    fields = dict(line.split() for line in _text(group / "memory.stat").splitlines() if len(line.split()) == 2)
    return float(fields.get("total_inactive_file", fields.get("inactive_file", 0)))


def _cpu_quota() -> float | None:
    quotas = []
    for group in _groups("cpu"):
        words = _text(group / "cpu.max").split()
        if not words:
            words = [_text(group / f"cpu.cfs_{what}_us").strip() for what in ("quota", "period")]
        if len(words) == 2 and all(word.isdigit() for word in words) and int(words[1]):
            quotas.append(int(words[0]) / int(words[1]))
    return min(quotas, default=None)


def _groups(controller: str) -> list[Path]:
    """The control groups this process is in, with all above them; limits of any of them hold."""
    groups: list[Path] = []
    for line in _text(Path("/proc/self/cgroup")).splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers and controller not in controllers.split(","):
            continue
        top = _CGROUPS / controller if controllers else _CGROUPS
        own = top / path.lstrip("/")
        groups += [own, *(above for above in own.parents if above.is_relative_to(top))]
    return groups


def _number(file: Path) -> float | None:
    text = _text(file).strip()
    return float(text) if text.isdigit() else None


def _text(file: Path) -> str:
    try:
        return file.read_text(errors="replace")
    except OSError:
        return ""
