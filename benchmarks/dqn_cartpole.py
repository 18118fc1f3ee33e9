"""How soon CartPole-v1 is solved: `python benchmarks/dqn_cartpole.py [--sb3-python PYTHON] [--seeds N] [--json OUT]`.

Whet's DQN against Stable-Baselines3's with the settings of rl-zoo, each seed in turn and each run in a process of its
own with one thread. A run is evaluated every 1,024 steps on the same 20 episodes, without exploring, and is over when
their mean return is 475 or more, or after the 50,000 steps that rl-zoo gives. Seconds are those of training, without
starting and without evaluations.

Stable-Baselines3 is looked for in the Python that --sb3-python or WHET_SB3_PYTHON names: a virtual environment with
`pip install torch==2.13.0 stable-baselines3==2.9.2 gymnasium`.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # started as a script, only its folder is on the path

from benchmarks.cartpole_race import race

if __name__ == "__main__":
    race(__doc__ or "", {"whet": ["dqn_cartpole_whet.py"]}, "dqn_cartpole_sb3.py")
