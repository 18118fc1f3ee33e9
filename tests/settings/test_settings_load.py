"""Reading settings: defaults, files, environment, and what is said when something is wrong."""

import os
from pathlib import Path

import pytest
from pydantic import ValidationError

from whet.bootstrap.learning import plan
from whet.core.errors import WhetError
from whet.rewards import PROFILES
from whet.settings import Settings, keys, load_settings, unused_keys
from whet.settings.production import Production


def load(root: Path, text: str, file: str = "pyproject.toml", **env: str) -> Settings:
    (root / file).write_text(text, encoding="utf-8")
    return load_settings(root, env)


def refused(root: Path, text: str, file: str = "pyproject.toml") -> str:
    with pytest.raises(WhetError) as caught:
        load(root, text, file)
    return str(caught.value)


def test_nothing_needs_to_be_configured(tmp_path: Path) -> None:
    assert load_settings(tmp_path, {}) == Settings()
    assert load(tmp_path, '[project]\nname = "shop"\n') == Settings()


def test_the_defaults_of_the_learning() -> None:
    learning = Settings().q_learning
    assert (learning.learning_rate, learning.discount_factor, learning.target_reward) == (0.1, 0.95, 50.0)
    assert (learning.initial_epsilon, learning.min_epsilon, learning.epsilon_decay) == (0.2, 0.01, 0.995)
    levels = Settings().hierarchical_learning
    assert (levels.individual_weight, levels.category_weight, levels.fleet_weight) == (1.0, 0.7, 0.5)
    assert (levels.category_rate, levels.fleet_rate) == (0.1, 0.05)


def test_pyproject_and_whet_toml_say_the_same_things(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    values = 'minutes = 2\nagents = ["test-executor"]\npolicies = {test-executor = "epsilon-greedy"}\n'
    one = load(tmp_path / "a", f"[tool.whet]\n{values}[tool.whet.q_learning]\nlearning_rate = 1\n")
    two = load(tmp_path / "b", f"{values}[q_learning]\nlearning_rate = 1\n", "whet.toml")
    assert one == two
    assert (one.minutes, one.agents, one.q_learning.learning_rate) == (2.0, ("test-executor",), 1.0)
    assert one.policies == {"test-executor": "epsilon-greedy"}


def test_whet_toml_may_stand_beside_an_unrelated_pyproject(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.ruff]\n")
    assert load(tmp_path, "minutes = 3", "whet.toml").minutes == 3.0


def test_two_places_are_refused(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.whet]\n")
    assert "two places" in refused(tmp_path, "minutes = 3", "whet.toml")


def test_the_environment_comes_last(tmp_path: Path) -> None:
    text = '[tool.whet]\npython = "python3"\ndatabase_url = "sqlite:///a.db"\n'
    env = {"WHET_PYTHON": "/opt/python", "WHET_DATABASE_URL": "", "WHET_AUDIT_KEY": "secret", "WHET_OTHER": "x"}
    settings = load(tmp_path, text, **env)
    assert (settings.python, settings.database_url) == ("/opt/python", "sqlite:///a.db")
    assert settings.audit_key is not None
    assert settings.audit_key.get_secret_value() == "secret"


def test_secrets_do_not_show(tmp_path: Path) -> None:
    env = {"WHET_AUDIT_KEY": "hush", "WHET_DATABASE_URL": "postgresql://user:hush@host/whet"}
    assert "hush" not in repr(load_settings(tmp_path, env))


def test_the_audit_key_is_refused_in_a_file(tmp_path: Path) -> None:
    said = refused(tmp_path, '[tool.whet]\naudit_key = "hush"\n')
    assert "WHET_AUDIT_KEY" in said
    assert "hush" not in said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "[tool.whet.q_learning]\nlearnign_rate = 0.1",
            "pyproject.toml, [tool.whet.q_learning]: there is no key 'learnign_rate'. Did you mean learning_rate?",
        ),
        ("[tool.whet]\nminuets = 1", "pyproject.toml, [tool.whet]: there is no key 'minuets'. Did you mean minutes?"),
        ("[tool.whet.qlearning]\n", "[tool.whet]: there is no key 'qlearning'. Did you mean q_learning?"),
        ("[tool.whet.limits]\nzzz = 1", "there is no key 'zzz'. The keys are: memory_mb, timeout_seconds."),
        (
            "[tool.whet.q_learning]\nlearning_rate = 2.5",
            "learning_rate is 2.5. It must be a number above 0 and at most 1.",
        ),
        ('[tool.whet]\nminutes = "ten"', 'minutes is "ten". It must be a number above 0 and at most 1440.'),
        ("[tool.whet]\nminutes = true", "minutes is true. It must be a number"),
        ("[tool.whet]\nminutes = nan", "minutes is nan. It must be a number"),
        ("[tool.whet]\nminutes = inf", "minutes is inf. It must be a number"),
        (
            "[tool.whet]\nseed = 4294967296",
            "seed is 4294967296. It must be a whole number from 0 and below 4294967296.",
        ),
        ("[tool.whet]\nseed = 1.5", "seed is 1.5. It must be a whole number"),
        ('[tool.whet]\nagents = "all"', 'agents is "all". It must be a list of names.'),
        ("[tool.whet]\nq_learning = 3", "[tool.whet]: q_learning is 3. It must be a table."),
        ("[tool]\nwhet = 3", "tool.whet is 3. It must be a table"),
        (
            '[tool.whet.q_learning]\nexploration = "ucb"',
            'exploration is "ucb". It must be "thompson" or "epsilon-greedy".',
        ),
        (
            "[tool.whet.q_learning]\nmin_epsilon = 0.5",
            "[tool.whet.q_learning]: min_epsilon is 0.5, above initial_epsilon 0.2.",
        ),
        (
            "[tool.whet.rewards]\nweights = {coverage_gian = 1}",
            "[tool.whet.rewards]: There is no reward part named 'coverage_gian'. Did you mean coverage_gain?",
        ),
        (
            "[tool.whet.rewards]\nweights = {coverage_gain = -1}",
            "weight coverage_gain is -1.0. Give a number from 0 to 10",
        ),
        ("[tool.whet.rewards]\nweights = {coverage_gain = true}", "weights.coverage_gain is true."),
        ("[tool.whet]\nminutes = 1\nminutes = 2", "pyproject.toml is not valid TOML: Cannot overwrite a value (at"),
        ("[tool.whet]\nminutes = ", "not valid TOML: Invalid value (at end of document). Correct that line"),
        ("[tool.whet]\nminutes 3", "(at line 2, column 9)"),
    ],
)
def test_what_is_wrong_is_said_with_its_place_and_what_is_allowed(tmp_path: Path, text: str, said: str) -> None:
    assert said in refused(tmp_path, text)


def test_every_problem_of_a_file_is_named_at_once(tmp_path: Path) -> None:
    said = refused(tmp_path, "[tool.whet]\nminutes = 0\nseeed = 1\n[tool.whet.limits]\nmemory_mb = 1\n").splitlines()
    assert len(said) == 3


def test_terminal_escapes_in_a_file_are_not_printed(tmp_path: Path) -> None:
    said = refused(tmp_path, '[tool.whet]\nminutes = "\\u001b[31m"\n"\\u001b[2J" = 1\n')
    assert "\x1b" not in said


def test_a_prefix_in_whet_toml_is_explained(tmp_path: Path) -> None:
    assert "need no tool.whet in front" in refused(tmp_path, "[tool.whet]\nminutes = 1\n", "whet.toml")


def test_text_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_bytes(b'[tool.whet]\npython = "\xe9"\n')
    with pytest.raises(WhetError, match="not UTF-8"):
        load_settings(tmp_path, {})


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_named(tmp_path: Path) -> None:
    file = tmp_path / "whet.toml"
    file.write_text("minutes = 1")
    file.chmod(0)
    with pytest.raises(WhetError, match="cannot be read: Permission denied"):
        load_settings(tmp_path, {})


def test_settings_are_frozen() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        setattr(Settings(), "minutes", 1.0)  # noqa: B010 - a plain assignment does not pass the type checker


def test_keys_without_effect_are_listed_only_when_they_were_set(tmp_path: Path) -> None:
    assert unused_keys(Settings()) == []
    text = "[tool.whet]\nminutes = 1\n[tool.whet.convergence]\n[tool.whet.team_learning]\nenabled = true\n"
    text += "[tool.whet.experience_replay]\nbeta = 0.4\nbatch_size = 8\n"
    assert unused_keys(load(tmp_path, text)) == ["experience_replay.beta", "team_learning.enabled"]


def test_the_profiles_that_may_be_chosen_are_those_that_exist() -> None:
    allowed = next(key.allowed for key in keys() if key.path == "rewards.profile")
    assert allowed == " or ".join(f'"{name}"' for name in PROFILES)


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ("first_share = 0.6", "first_share is 0.6, not below traffic_split 0.5"),
        ("traffic_split = 0.1", "first_share is 0.1, not below traffic_split 0.1"),
        ("most_samples = 50", "most_samples is 50, below min_samples 100"),
        ("min_samples = 2\nmost_samples = 29", "most_samples is 29. It must be a whole number from 30"),
    ],
)
def test_a_rollout_whose_steps_could_not_be_taken_is_refused_by_its_keys(tmp_path: Path, lines: str, told: str) -> None:
    assert told in refused(tmp_path, f"[tool.whet.production]\n{lines}\n")


def test_the_shortest_rollout_that_settings_allow_can_be_planned() -> None:
    assert plan(Settings(production=Production(min_samples=2, most_samples=30))).most_units == 30
