"""The exported file decides as torch does, in a runtime that knows nothing of Whet."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime  # type: ignore[import-untyped]  # it has no types
import pytest
from tests.policies.deep.test_acting import GROUPS, ONE, RECALLING, states, trained, trained_ppo

from whet.core.errors import RefusedInput
from whet.policies.deep.dqn_config import Network
from whet.policies.deep.export import export_onnx
from whet.policies.deep.layout import Layout
from whet.policies.deep.learning import Flags, Floats


def session(path: Path) -> Any:
    return onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])


def chosen(values: Floats, masks: Flags) -> list[int]:
    actions: list[int] = np.where(masks, values, -np.inf).argmax(axis=1).tolist()
    return actions


@pytest.mark.parametrize("layout", [ONE, GROUPS, RECALLING])
def test_a_dqn_has_the_values_and_the_actions_of_torch(layout: Layout, tmp_path: Path) -> None:
    learner = trained(layout, Network())
    learner.save(tmp_path / "policy")
    export_onnx(tmp_path / "policy", tmp_path / "policy.onnx")
    network = session(tmp_path / "policy.onnx")
    for number in (1, 10_000):
        rows, masks = states(layout, number)
        (values,) = network.run(None, {"observations": rows})
        np.testing.assert_allclose(values, learner.values_by_head(rows, masks), rtol=1e-4, atol=1e-4)
        assert chosen(values.mean(axis=1), masks) == learner.values(rows, masks).argmax(axis=1).tolist()


@pytest.mark.parametrize("layout", [ONE, RECALLING])
def test_a_ppo_has_the_preferences_and_the_actions_of_torch(layout: Layout, tmp_path: Path) -> None:
    learner = trained_ppo(layout)
    learner.save(tmp_path / "policy")
    export_onnx(tmp_path / "policy", tmp_path / "policy.onnx", "ppo")
    network = session(tmp_path / "policy.onnx")
    for number in (1, 10_000):
        rows, masks = states(layout, number)
        (values,) = network.run(None, {"observations": rows})
        told = learner.values(rows, masks)
        assert chosen(values, masks) == told.argmax(axis=1).tolist()
        odds = values - np.logaddexp.reduce(np.where(masks, values, -np.inf), axis=1, keepdims=True)
        np.testing.assert_allclose(odds[masks], told[masks], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("policy", ["dqn", "ppo"])
def test_the_file_says_which_policy_actions_and_layout_it_has(policy: Any, tmp_path: Path) -> None:
    learner = trained(GROUPS, Network()) if policy == "dqn" else trained_ppo(GROUPS)
    learner.save(tmp_path / "policy")
    export_onnx(tmp_path / "policy", tmp_path / "policy.onnx", policy)
    told = {each.key: each.value for each in onnx.load(tmp_path / "policy.onnx").metadata_props}
    assert told == {"policy": policy, "actions": "a\nb\nc\nd", "layout": "groups"}


def test_a_policy_of_the_other_kind_is_refused(tmp_path: Path) -> None:
    trained_ppo(ONE).save(tmp_path / "policy")
    with pytest.raises(RefusedInput, match="it is a ppo policy where a dqn one is needed"):
        export_onnx(tmp_path / "policy", tmp_path / "policy.onnx")
    assert not (tmp_path / "policy.onnx").exists()
