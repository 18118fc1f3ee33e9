"""Stable-Baselines3 evaluated as every contender of CartPole-v1 is. Runs in SB3's Python."""

import importlib
from typing import Any

from benchmarks.cartpole_trial import Trial


def evaluating(trial: Trial) -> Any:
    base: Any = importlib.import_module("stable_baselines3.common.callbacks").BaseCallback

    class Evaluated(base):  # type: ignore[misc]  # it is imported when it runs
        over = False

        def _on_rollout_start(self) -> None:
            """After an update, but for the first time."""
            if self.num_timesteps:
                self.over = trial.is_over(self.num_timesteps, self._greedy)

        def _greedy(self, rows: Any) -> Any:
            return self.model.predict(rows, deterministic=True)[0]

        def _on_step(self) -> bool:
            return not self.over

    return Evaluated()
