"""What Whet keeps in a project is private to its owner, or to the group whose folder it is."""

import os
import shutil
import stat
from pathlib import Path

import pytest
from tests.cli.command_line import EXECUTOR_ONLY, whet

from whet.bootstrap.site import Site, open_site
from whet.core.errors import WhetError

NOBODY = 65534


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text(EXECUTOR_ONLY)
    (tmp_path / "test_it.py").write_text("def test_it():\n    assert 1 == 2, 'said in a test'\n")
    tmp_path.chmod(0o755)
    return tmp_path


def test_nobody_else_may_look_into_it(project: Path) -> None:
    before = os.umask(0o022)
    try:
        assert whet("run", project).returncode == 1
    finally:
        os.umask(before)
    kept = project / ".whet"
    assert mode(kept) == 0o700
    assert {"whet.db", "report.html", "audit.key"} <= {each.name for each in kept.iterdir()}
    assert mode(kept / "audit.key") == 0o600


def test_where_the_folder_is_a_groups_the_group_may(project: Path) -> None:
    project.chmod(0o2775)
    with open_site(project).store():
        pass
    assert mode(project / ".whet") == 0o2770


def test_what_was_opened_on_purpose_stays_open_and_is_told(project: Path) -> None:
    with open_site(project).store():
        pass
    assert "privacy" not in whet("doctor", project).stdout
    (project / ".whet").chmod(0o755)
    with open_site(project).store():
        pass
    assert mode(project / ".whet") == 0o755
    assert "chmod o-rwx" in whet("doctor", project).stdout.replace("\n", " ")


def test_what_a_suite_deleted_comes_back_private(project: Path) -> None:
    site = open_site(project)
    with site.store() as store:
        shutil.rmtree(site.state_dir)
        assert site.rescue(store)
        assert (mode(site.state_dir), mode(site.state_dir / "audit.key")) == (0o700, 0o600)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become somebody else")
def test_somebody_else_is_told_so(project: Path) -> None:
    site = open_site(project)
    with site.store():
        pass
    for folder in (project, *project.parents[:-2]):  # pytest's own are private as well
        folder.chmod(folder.stat().st_mode | 0o755)
    assert "cannot be used: Permission denied" in _refused_to_nobody(site)
    site.state_dir.chmod(0o777)
    assert "WHET_AUDIT_KEY" in _refused_to_nobody(site)


def _refused_to_nobody(site: Site) -> str:
    os.seteuid(NOBODY)
    try:
        with pytest.raises(WhetError) as refused, site.store():
            pass
    finally:
        os.seteuid(0)
    return str(refused.value)
