"""The corpus run: what it takes for documents, and what it says of them."""

import io
import json
import tarfile
import zipfile
from pathlib import Path

import pytest
from benchmarks.api_corpus import Examiner, documents, examine, is_document, run, show
from tests.skills.api.contract.made_contracts import answering, openapi

GOOD = json.dumps(openapi(answering({"type": "string"}))).encode()
EMPTY = json.dumps(openapi({})).encode()


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    (tmp_path / "a.json").write_bytes(GOOD)
    (tmp_path / "again.json").write_bytes(GOOD)
    (tmp_path / "package.json").write_bytes(b'{"name": "openapi"}')
    with zipfile.ZipFile(tmp_path / "b.whl", "w") as wheel:
        wheel.writestr("pkg/empty.json", EMPTY)
        wheel.writestr("pkg/code.py", GOOD)
    with tarfile.open(tmp_path / "c.tgz", "w:gz") as archive:
        member = tarfile.TarInfo("package/openapi.yaml")
        text = b"openapi: 3.1.0\npaths: {/a: {get: {}}}"
        member.size = len(text)
        archive.addfile(member, io.BytesIO(text))
    return tmp_path


def test_documents_are_found_in_directories_and_archives(corpus: Path) -> None:
    names = [name for name, text in documents(corpus) if is_document(text)]
    assert [name.rpartition("/")[2] for name in names] == ["a.json", "again.json", "empty.json", "openapi.yaml"]


def test_each_document_is_read_once_and_told(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    reads = list(run([corpus], limit_seconds=60))
    show(reads)
    assert [one.verdict for one in reads] == ["read", "refused", "read"]
    assert "3 different documents: 2 read, 1 refused" in capsys.readouterr().out


def test_a_document_that_outlasts_the_limit_is_a_hang_and_not_the_end() -> None:
    examiner = Examiner(limit_seconds=0.0)
    try:
        assert examiner.examine("slow", GOOD).verdict == "hang"
        assert examiner.examine("slow again", GOOD).verdict == "hang"
    finally:
        examiner.close()


def test_what_is_read_is_counted() -> None:
    read = examine("good", GOOD)
    assert (read.verdict, read.operations, read.uncompiled) == ("read", 1, 0)
