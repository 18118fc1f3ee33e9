"""Faults as tests: each fails now and passes when its fault is fixed.

One module with one function a fault. It needs pytest and the standard library; the code that sends and reads is the
source of `replay`, so that what is written is what is tested here.
"""

import ast
import hashlib
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from whet.core.errors import WhetError
from whet.core.text import printable
from whet.reports.api import replay, replay_schema
from whet.reports.api.asserting import assertion
from whet.reports.api.model import ApiReport, FaultLine
from whet.reports.api.replaying import step_source
from whet.reports.api.words import KINDS, by_urgency
from whet.skills.api import renaming
from whet.skills.api.faults import Kind

FILE_NAME = "test_whet_api.py"
_MARK = "Written by whet"
_DEFAULT_URL = '"http://127.0.0.1:8000"'
_DEFAULT_TIMEOUT = '"10"'


def write_tests(report: ApiReport, directory: Path, timeout_seconds: float = 10.0) -> Path | None:
    """Write the module; None, and no file, when there is no fault. A file that is not ours is never overwritten."""
    path = directory / FILE_NAME
    if not (tests := module_source(report, timeout_seconds)):
        return None
    refuse_a_strangers_file(path)
    directory.mkdir(parents=True, exist_ok=True)
    path.write_text(tests, encoding="utf-8")
    return path


def refuse_a_strangers_file(path: Path) -> None:
    if path.exists() and _MARK not in path.read_text(encoding="utf-8", errors="replace")[:500]:
        raise WhetError(f"{path} was not written by whet.", "Move it away, or give another directory.")


def module_source(report: ApiReport, timeout_seconds: float = 10.0) -> str:
    """The module's source; empty without faults. Fixed faults stay as tests that pass; what did not show again when
    it was sent again has none, for that would not be red now."""
    faults = [fault for fault in by_urgency(report.faults) if fault.steps and fault.confirmed]
    if not faults:
        return ""
    support = _support(any(fault.kind is Kind.SCHEMA_VIOLATION for fault in faults), any(f.rests for f in faults))
    own = support.replace(_DEFAULT_URL, _text(report.base_url)).replace(_DEFAULT_TIMEOUT, _text(f"{timeout_seconds:g}"))
    names = Counter[str]()
    functions = []
    for fault in faults:
        name = function_name(fault)
        names[name] += 1  # a second function of the same name would hide the first
        functions.append(function_source(fault, name if names[name] == 1 else f"{name}_{names[name]}"))
    return "\n\n\n".join([_head(report) + own, *functions]) + "\n"


def function_source(fault: FaultLine, name: str) -> str:
    """One function: the steps in their order, then what must hold."""
    steps = [step_source(number, step, fault) for number, step in enumerate(fault.steps)]
    body = [*_told(fault), *(line for step in steps for line in step), *assertion(fault)]
    return f"def {name}() -> None:\n" + "\n".join(f"    {line}" if line else "" for line in body)


def function_name(fault: FaultLine) -> str:
    """Stable between runs, as the cause is."""
    digest = hashlib.sha256(fault.cause.encode("utf-8", "replace")).hexdigest()[:8]
    words = re.sub(r"[^a-z0-9]+", "_", f"{fault.kind} {fault.operations[0]}".lower()).strip("_")[:70]
    return f"test_{words}_{digest}"


def _told(fault: FaultLine) -> list[str]:
    lines = [f"# {KINDS[fault.kind][0].capitalize()}: {printable(fault.title, 300)}"]
    lines += [f"# {printable(line, 300)}" for line in fault.detail.splitlines()[:6] if line.strip()]
    return (
        [*lines, "# It may rest on things that were there: where they are gone it is skipped."]
        if fault.rests
        else lines
    )


def _head(report: ApiReport) -> str:
    shown = printable(report.title, 200).replace("\\", "\\\\").replace('"', "'")
    return (
        f'"""What is wrong with {shown}: each test fails now and passes when its fault is fixed.\n\n'
        f"{_MARK} (seed {report.seed}); the next run writes it anew. WHET_API_URL names another place of the service,\n"
        "WHET_API_AUTHORIZATION and the like hold headers and fields with credentials, which are not written down.\n"
        '"""\n\n'
    )


def _support(with_schema: bool, skipping: bool) -> str:
    """The source of the replay modules as one: imports first, each once, then everything else."""
    modules = [renaming, replay, *([replay_schema] if with_schema else [])]
    sources = [Path(str(module.__file__)).read_text(encoding="utf-8") for module in modules]
    trees = [ast.parse(source) for source in sources]
    imports = {ast.unparse(node) for tree in trees for node in tree.body if _is_outside_import(node)}
    imports |= {"import pytest"} if skipping else set()
    bodies = (_without_head(source, tree) for source, tree in zip(sources, trees, strict=True))
    return "\n".join(_merged(imports)) + "\n\n" + "\n\n\n".join(bodies)


def _is_outside_import(node: ast.stmt) -> bool:
    return isinstance(node, ast.Import) or (
        isinstance(node, ast.ImportFrom) and not str(node.module).startswith("whet")
    )


def _merged(imports: Iterable[str]) -> list[str]:
    names: dict[str, set[str]] = {}
    plain = []
    for line in imports:
        module, _, wanted = line.removeprefix("from ").partition(" import ")
        if line.startswith("from "):
            names.setdefault(module, set()).update(wanted.split(", "))
        else:
            plain.append(line)
    return sorted(plain) + [f"from {module} import {', '.join(sorted(names[module]))}" for module in sorted(names)]


def _without_head(source: str, tree: ast.Module) -> str:
    last = max(node.end_lineno or 0 for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom))
    return re.sub(r"  # noqa: S101", "", "\n".join(source.splitlines()[last:]).strip())


def _text(text: str) -> str:
    return ascii(text)
