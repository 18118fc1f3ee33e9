import hashlib
import json
import pickle
from collections.abc import Callable
from pathlib import Path
from threading import Thread

import numpy as np
import pytest
from safetensors.numpy import save as bytes_of
from tests.policies.deep.small_problems import STATES, all_allowed, play_bandit, small_config

from whet.core.errors import RefusedInput, WhetError
from whet.policies.deep import artefacts
from whet.policies.deep.acting import Actor
from whet.policies.deep.dqn import DQN
from whet.policies.deep.dqn_config import Config
from whet.policies.deep.layout import Layout


@pytest.fixture
def learner() -> DQN:
    learner = DQN(small_config(), seed=1)
    play_bandit(learner, STATES, rounds=10)
    return learner


@pytest.fixture
def folder(learner: DQN, tmp_path: Path) -> Path:
    learner.save(tmp_path / "policy")
    return tmp_path / "policy"


def tensors_file(folder: Path) -> Path:
    (found,) = folder.glob(f"save.*/{artefacts.TENSORS}")
    return found


def rewrite(folder: Path, **changes: np.ndarray) -> None:
    """As an attacker would who also mends the checksums."""
    artefact = artefacts.read(folder, "dqn")
    data = bytes_of({**artefact.tensors, **changes})
    tensors_file(folder).write_bytes(data)
    manifest = artefact.manifest.model_copy(update={"sha256": hashlib.sha256(data).hexdigest()})
    (folder / artefacts.NAME).write_bytes(artefacts._sealed(manifest))


@pytest.mark.parametrize("opened", [DQN.open, Actor.open])
@pytest.mark.parametrize("kept", [0, 1, 100, -1])
def test_a_file_that_was_cut_short_is_refused_by_name(
    folder: Path, kept: int, opened: Callable[[Path], object]
) -> None:
    path = tensors_file(folder)
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(RefusedInput, match=rf"{artefacts.TENSORS}: its checksum is another"):
        opened(folder)


def test_a_single_changed_bit_is_refused(folder: Path) -> None:
    path = tensors_file(folder)
    data = bytearray(path.read_bytes())
    data[-3] ^= 1
    path.write_bytes(data)
    with pytest.raises(RefusedInput, match="its checksum is another"):
        Actor.open(folder)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_weights_that_are_not_finite_are_refused_by_name_even_with_the_right_checksum(folder: Path, bad: float) -> None:
    name = "online.heads.worth"
    weights = artefacts.read(folder, "dqn").tensors[name].copy()
    weights.flat[0] = bad
    rewrite(folder, **{name: weights})
    with pytest.raises(RefusedInput, match=f"'{name}' has numbers that are not finite"):
        Actor.open(folder)


@pytest.mark.parametrize("opened", [DQN.open, Actor.open])
def test_weights_of_another_shape_are_refused_by_name(folder: Path, opened: Callable[[Path], object]) -> None:
    rewrite(folder, **{"online.heads.worth": np.zeros((2, 32, 2), dtype=np.float32)})
    with pytest.raises(RefusedInput, match=r"'online\.heads\.worth' has the shape"):
        opened(folder)


def test_a_pickle_is_refused_and_never_loaded(folder: Path, tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return (Path.touch, (tmp_path / "sprung",))  # type: ignore[return-value]

    data = pickle.dumps(Trap())
    tensors_file(folder).write_bytes(data)
    manifest = json.loads((folder / artefacts.NAME).read_text())["policy"]
    manifest["sha256"] = hashlib.sha256(data).hexdigest()
    (folder / artefacts.NAME).write_text(json.dumps({"sha256": artefacts._digest(manifest), "policy": manifest}))
    with pytest.raises(RefusedInput, match="cannot be read"):
        Actor.open(folder)
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"sha256": 1}', "\x00", '{"sha256": "x", "policy": {}}', "[" * 100_000]
)
def test_a_manifest_that_is_none_is_refused_by_name(folder: Path, text: str) -> None:
    (folder / artefacts.NAME).write_text(text)
    with pytest.raises(RefusedInput, match=r"policy.json: it is not what a learner saved"):
        Actor.open(folder)


def test_a_manifest_that_was_changed_is_refused(folder: Path) -> None:
    path = folder / artefacts.NAME
    path.write_text(path.read_text().replace('"steps": 80', '"steps": 81'))
    with pytest.raises(RefusedInput, match="its checksum is another"):
        DQN.open(folder)


def test_where_there_is_no_policy_it_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(RefusedInput, match="There is no policy in"):
        Actor.open(tmp_path)


def test_a_missing_file_is_refused_by_name(folder: Path) -> None:
    tensors_file(folder).unlink()
    with pytest.raises(RefusedInput, match=rf"{artefacts.TENSORS}: it is missing"):
        Actor.open(folder)


def test_it_can_be_opened_while_it_is_saved_again_and_again(folder: Path) -> None:
    saving = Thread(target=save_again_and_again, args=(folder,))
    saving.start()
    while saving.is_alive():
        Actor.open(folder)
    saving.join()


def save_again_and_again(folder: Path) -> None:
    found = artefacts.read(folder, "dqn")
    config = Config.model_validate(found.manifest.config)
    for _ in range(30):
        artefacts.finish(artefacts.begin(folder), "dqn", config, found.manifest.progress, found.tensors)


def test_a_policy_of_another_kind_is_refused(folder: Path) -> None:
    with pytest.raises(RefusedInput, match="it is a dqn policy where a ppo one is needed"):
        artefacts.read(folder, "ppo")


def test_a_policy_for_another_layout_is_refused(learner: DQN, folder: Path) -> None:
    layout = learner.config.layout
    assert Actor.open(folder, layout).config == learner.config
    with pytest.raises(RefusedInput, match="made for another layout"):
        Actor.open(folder, Layout(tokens=1, width=4, digest="other"))


def test_a_save_that_was_cut_short_leaves_the_earlier_one_good_and_the_next_clears_up(
    learner: DQN, folder: Path
) -> None:
    before = DQN.open(folder)
    unfinished = artefacts.begin(folder)
    (unfinished / artefacts.TENSORS).write_bytes(b"half of it")
    assert DQN.open(folder).steps == before.steps
    learner.save(folder)
    assert not unfinished.exists()
    assert len(list(folder.glob("save.*"))) == 1


def test_a_folder_that_cannot_be_written_to_is_told(learner: DQN, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(WhetError, match="could not be saved"):
        learner.save(tmp_path / "file" / "policy")


def test_it_says_what_it_was_made_with(folder: Path) -> None:
    manifest = artefacts.read(folder, "dqn").manifest
    assert manifest.versions["torch"].startswith("2.")
    assert manifest.config["actions"] == ["a", "b", "c", "d"]


def test_opened_again_it_values_everything_alike(learner: DQN, folder: Path) -> None:
    masks = all_allowed(4, 4)
    assert np.array_equal(DQN.open(folder).values(STATES, masks), learner.values(STATES, masks))
