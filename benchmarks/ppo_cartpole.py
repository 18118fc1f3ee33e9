"""How soon CartPole-v1 is solved: `python benchmarks/ppo_cartpole.py [--sb3-python PYTHON] [--seeds N] [--json OUT]`.

Whet's PPO, with its own settings and with those of rl-zoo, against Stable-Baselines3's with those of rl-zoo; each seed
in turn and each run in a process of its own with one thread. A run is evaluated every 1,024 steps on the same 20
episodes, without exploring, and is over when their mean return is 475 or more. Seconds are those of training, without
starting and without evaluations.

Stable-Baselines3 is looked for in the Python that --sb3-python or WHET_SB3_PYTHON names: a virtual environment with
`pip install torch==2.13.0 stable-baselines3==2.9.2 gymnasium`.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # started as a script, only its folder is on the path

from benchmarks.cartpole_race import race

OURS = {"whet": ["ppo_cartpole_whet.py", "own"], "whet_same_settings": ["ppo_cartpole_whet.py", "zoo"]}

if __name__ == "__main__":
    race(__doc__ or "", OURS, "ppo_cartpole_sb3.py")
