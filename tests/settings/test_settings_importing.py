"""camelCase learning settings find their place in [tool.whet]."""

import json
from typing import Any

import pytest

from whet.core.errors import WhetError
from whet.settings import Settings, import_s2, parse_s2

FLAT = {
    "enabled": True,
    "learningRate": 0.11,
    "discountFactor": 0.94,
    "explorationRate": 0.3,
    "explorationDecay": 0.99,
    "minExplorationRate": 0.02,
    "targetImprovement": 0.25,
    "maxMemorySize": 204857600,
    "batchSize": 16,
    "updateFrequency": 11,
    "replayBufferSize": 20000,
}
TABLES = {
    "enabled": False,
    "qLearning": {
        "learningRate": 0.2,
        "discountFactor": 0.9,
        "epsilonStrategy": "step",
        "initialEpsilon": 0.5,
        "minEpsilon": 0.03,
        "epsilonDecay": 0.99,
        "targetReward": 40.0,
    },
    "experienceReplay": {
        "enabled": False,
        "bufferSize": 5000,
        "batchSize": 64,
        "prioritized": False,
        "alpha": 0.5,
        "beta": 0.3,
        "betaIncrement": 0.002,
    },
    "hierarchicalLearning": {
        "enabled": False,
        "individualWeight": 0.9,
        "categoryWeight": 0.6,
        "fleetWeight": 0.4,
        "aggregationInterval": 301,
    },
    "transferLearning": {"enabled": False, "minConfidence": 0.6, "decayFactor": 0.7},
    "convergence": {
        "checkInterval": 3601,
        "qValueChangeThreshold": 0.02,
        "rewardVarianceThreshold": 6.0,
        "minSuccessRate": 0.8,
        "minExplorationRate": 0.06,
    },
    "production": {
        "abTesting": True,
        "trafficSplit": 0.4,
        "minSamples": 101,
        "confidenceLevel": 0.9,
        "snapshotInterval": 3602,
        "rollbackThreshold": 0.2,
    },
    "teamLearning": {
        "enabled": True,
        "syncInterval": 3603,
        "pushThreshold": 0.6,
        "conflictResolution": "highest_confidence",
        "privacyMode": "differential",
        "dpEpsilon": 2.0,
    },
}


def test_every_key_of_the_flat_form_lands_with_its_value() -> None:
    settings = Settings.model_validate(import_s2(FLAT))
    assert settings.learning is True
    assert settings.q_learning.model_dump(exclude_unset=True) == {
        "learning_rate": 0.11,
        "discount_factor": 0.94,
        "initial_epsilon": 0.3,
        "epsilon_decay": 0.99,
        "min_epsilon": 0.02,
    }
    assert settings.experience_replay.model_dump(exclude_unset=True) == {
        "max_memory_bytes": 204857600,
        "batch_size": 16,
        "update_frequency": 11,
        "buffer_size": 20000,
    }
    assert settings.convergence.model_dump(exclude_unset=True) == {"target_improvement": 0.25}


def test_every_key_of_the_tables_lands_with_its_value() -> None:
    landed = Settings.model_validate(parse_s2(json.dumps(TABLES))).model_dump(exclude_unset=True)
    assert landed.pop("learning") is False
    assert list(landed) == [
        "q_learning",
        "experience_replay",
        "hierarchical_learning",
        "transfer_learning",
        "convergence",
        "production",
        "team_learning",
    ]
    tables = [table for table in TABLES.values() if isinstance(table, dict)]
    for mine, theirs in zip(landed.values(), tables, strict=True):
        # the same values under the same words, apart from units in the names
        spelled = {name.removesuffix("_seconds").replace("_", ""): value for name, value in mine.items()}
        assert spelled == {name.lower(): value for name, value in theirs.items() if name != "snapshotInterval"}


def test_both_forms_may_be_mixed_when_they_agree() -> None:
    assert import_s2({"learningRate": 0.2, "qLearning": {"learningRate": 0.2}}) == {
        "q_learning": {"learning_rate": 0.2}
    }
    with pytest.raises(WhetError, match=r"qLearning.learningRate says 0.3, but another key already set learning_rate"):
        import_s2({"learningRate": 0.2, "qLearning": {"learningRate": 0.3}})


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"learningrate": 1}, r"no key 'learningrate'\. Did you mean learningRate\?"),
        ({"qLearning": {"epsilonDecy": 1}}, r"no key 'qLearning.epsilonDecy'\. Did you mean qLearning.epsilonDecay\?"),
        ({"minutes": 1}, "no key 'minutes'"),
        ({"rewards": {"profile": "composite"}}, "no key 'rewards.profile'"),
        ({"qLearning": 3}, "no key 'qLearning'"),
        ({"qLearning": {"a": {"b": 1}}}, "no key 'qLearning.a'"),
        (
            {"learningRate": 7},
            r"\[tool.whet.q_learning\]: learning_rate is 7. It must be a number above 0 and at most 1",
        ),
        ({"learningRate": float("nan")}, "learning_rate is nan"),
        ({"enabled": "yes"}, r'\[tool.whet\]: learning is "yes"\. It must be true or false'),
    ],
)
def test_what_has_no_place_or_is_not_allowed_is_refused(data: dict[str, Any], said: str) -> None:
    with pytest.raises(WhetError, match=said):
        import_s2(data)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"learningRate": 0.1, "learningRate": 0.2}', "'learningRate' is given 2 times"),
        ('{"learningRate": NaN}', "A value is NaN"),
        ('{"learningRate": -Infinity}', "A value is -Infinity"),
        ('{"learningRate": 1e999}', "learning_rate is inf"),
        ('{"learningRate": }', "not valid JSON: Expecting value at line 1, column 18"),
        ("[1]", "not an object"),
        ('{"a":' * 100_000, "nested too deeply"),
    ],
)
def test_json_that_is_not_sound_is_refused(text: str, said: str) -> None:
    with pytest.raises(WhetError, match=said):
        parse_s2(text)
