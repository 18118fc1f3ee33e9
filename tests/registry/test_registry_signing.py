"""The signature, against HMAC worked out step by step, and what it must withstand."""

import hashlib
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whet.checks.registry_samples import contents, facts, policy
from whet.core.errors import RefusedInput, WhetError
from whet.registry.manifest import manifest_bytes
from whet.registry.plain import PlainRegistry
from whet.registry.signing import key_name, require_signature, signature_of
from whet.registry.trees import Entry, Unfit

KEY = bytes(range(32))


def _hmac(key: bytes, message: bytes) -> str:
    """RFC 2104, with the two pads."""
    padded = key.ljust(64, b"\0")
    inner = hashlib.sha256(bytes(byte ^ 0x36 for byte in padded) + message).digest()
    return hashlib.sha256(bytes(byte ^ 0x5C for byte in padded) + inner).hexdigest()


def test_the_signature_is_hmac_sha256_of_the_manifest() -> None:
    method, name, signature = signature_of(b"{}", KEY).decode().split()
    assert method == "hmac-sha256"
    assert name == _hmac(KEY, b"whet artefact key 1\n")[:16] == key_name(KEY)
    assert signature == _hmac(KEY, b"whet artefact 1\n{}")


@pytest.mark.parametrize(
    ("manifest", "signature", "problem"),
    [
        (b"{ }", signature_of(b"{}", KEY), "changed since it was signed"),
        (b"{}", signature_of(b"{}", b"o" * 32), "another key"),
        (b"{}", b"", "no signature of ours"),
        (b"{}", b"none", "no signature of ours"),
        (b"{}", b"\xff\xfe", "no signature of ours"),
        (b"{}", signature_of(b"{}", KEY)[:-2], "changed since it was signed"),
        (b"{}", signature_of(b"{}", KEY) + b"\n", "changed since it was signed"),
    ],
)
def test_other_signatures_are_told_apart(manifest: bytes, signature: bytes, problem: str) -> None:
    with pytest.raises(Unfit, match=problem):
        require_signature(manifest, signature, KEY)


def test_a_short_key_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match="has 15 bytes"):
        PlainRegistry(tmp_path, b"k" * 15)


def test_the_digest_is_of_names_sizes_hashes_and_facts(tmp_path: Path) -> None:
    policy(tmp_path, "one", {"a.txt": b"hello"})
    with PlainRegistry(tmp_path / "registry", KEY) as registry:
        digest = registry.keep(
            tmp_path / "one", facts(config={}, metrics={}, lineage={}, pictures={"c.svg": b"<svg/>"})
        )
    hashes = [
        (path, len(data), hashlib.sha256(data).hexdigest())
        for path, data in (("files/a.txt", b"hello"), ("files/name.txt", b"one"), ("pictures/c.svg", b"<svg/>"))
    ]
    entries = ",".join(f'["{path}",{size},"{sha256}"]' for path, size, sha256 in hashes)
    document = (
        f'{{"agent":"test-executor","config":{{}},"entries":[{entries}],"kind":"tables","lineage":{{}},'
        '"metrics":{},"version":1}'
    )
    assert digest == hashlib.sha256(document.encode()).hexdigest()


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@settings(deadline=None, max_examples=50)
@given(st.dictionaries(st.text(), _JSON, max_size=4), st.dictionaries(st.text(), st.floats(-1e300, 1e300), max_size=4))
def test_facts_come_back_as_they_were(config: dict[str, Any], metrics: dict[str, float]) -> None:
    entries = [Entry("files/b", 1, "0" * 64), Entry("files/a", 1, "0" * 64)]
    data = manifest_bytes(facts(config=config, metrics=metrics), entries)
    told = json.loads(data)
    assert (told["config"], told["metrics"]) == (config, metrics)
    again = facts(config=dict(reversed(config.items())), metrics=dict(reversed(metrics.items())))
    assert manifest_bytes(again, entries[::-1]) == data


@settings(deadline=None, max_examples=25)
@given(st.data())
def test_no_changed_byte_gets_through(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder, PlainRegistry(Path(folder) / "registry", KEY) as registry:
        digest = registry.keep(policy(Path(folder), "one"), facts())
        files = sorted(path for path in (Path(folder) / "registry" / "artefacts").rglob("*") if path.is_file())
        file = data.draw(st.sampled_from([path for path in files if path.stat().st_size]))
        changed = bytearray(file.read_bytes())
        changed[data.draw(st.integers(0, len(changed) - 1))] ^= data.draw(st.integers(1, 255))
        file.write_bytes(changed)
        with pytest.raises(RefusedInput, match=digest[:12]):
            registry.open(digest)
        registry.keep(Path(folder) / "one", facts())
        assert contents(registry.open(digest).folder) == contents(Path(folder) / "one")


def test_a_metric_that_is_no_number_is_named() -> None:
    with pytest.raises(RefusedInput, match="the metric 'reward' is nan, not a finite number"):
        manifest_bytes(facts(metrics={"reward": float("nan")}), [])
