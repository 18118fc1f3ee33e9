"""[tool.whet.api]: what it takes, and what it refuses with a sentence."""

from pathlib import Path

import pytest

from whet.core.errors import WhetError
from whet.settings import Settings, load_settings

START = 'start = "python -m shop --port {port}"\n'


def load(root: Path, text: str) -> Settings:
    (root / "pyproject.toml").write_text(f"[tool.whet.api]\n{text}", encoding="utf-8")
    return load_settings(root, {})


def test_a_document_and_a_command_are_enough(tmp_path: Path) -> None:
    api = load(tmp_path, f'document = "/openapi.json"\n{START}').api
    assert (api.url, api.requests, api.ready_seconds, api.safe) == ("http://127.0.0.1:{port}", 500, 30.0, False)
    assert (api.auth, api.headers, api.only, api.exclude) == ((), {}, (), ())


def test_everything_else_can_be_said(tmp_path: Path) -> None:
    api = load(
        tmp_path,
        'document = "openapi.yaml"\nstart = "./serve"\nurl = "http://localhost:8000/v1"\nrequests = 50\nsafe = true\n'
        'auth = ["bearer:env:TOKEN", "basic:kim:env:PASSWORD"]\nheaders = { X-Tenant = "a", X-Api-Key = "env:KEY" }\n'
        'only = ["/books"]\nexclude = ["POST"]\nready_seconds = 5\n',
    ).api
    assert api.url == "http://localhost:8000/v1"
    assert api.auth == ("bearer:env:TOKEN", "basic:kim:env:PASSWORD")
    assert api.headers == {"X-Tenant": "a", "X-Api-Key": "env:KEY"}
    assert (api.only, api.exclude, api.safe, api.ready_seconds) == (("/books",), ("POST",), True, 5.0)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('start = "python -m shop"\n', "start does not contain {port}"),
        ('start = "python -m \'shop {port}"\n', "start cannot be read as a command line: No closing quotation"),
        ('start = "  "\nurl = "http://127.0.0.1:8000"\n', "start is empty"),
        ('url = "127.0.0.1:{port}"\n', "url: '127.0.0.1:8000' is not the address of a service"),
        ('url = "http://kim:secret@127.0.0.1:{port}"\n', "url: The address '127.0.0.1' carries credentials"),
        ('auth = ["bearer:abc123"]\n', "auth, entry 1, is not a way in with its secret as env:NAME"),
        ('auth = ["bearer:env:TOKEN", "basic:kim:abc123"]\n', "auth, entry 2"),
        ('headers = { Authorization = "Bearer abc123" }\n', "headers: Authorization looks like a secret"),
        ("requests = 5\n", "requests is 5. It must be a whole number from 10 to 1000000"),
        ("ready_seconds = 0\n", "ready_seconds is 0"),
        ('documents = "/openapi.json"\n', "there is no key 'documents'. Did you mean document?"),
        ('only = "/books"\n', "only is"),
    ],
)
def test_what_cannot_work_is_refused_with_its_table(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(WhetError) as caught:
        load(tmp_path, text)
    assert said in str(caught.value)
    assert "[tool.whet.api]" in str(caught.value)


def test_a_secret_that_is_refused_is_not_repeated(tmp_path: Path) -> None:
    for text in ('auth = ["bearer:abc123"]\n', 'headers = { X-Token = "abc123" }\n'):
        with pytest.raises(WhetError) as caught:
            load(tmp_path, text)
        assert "abc123" not in str(caught.value)
