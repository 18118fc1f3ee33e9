"""CartPole-v1 as every contender meets it: when it is evaluated, on what, and when it is done. Needs no Whet."""

import json
import time

from benchmarks.cartpole_evaluation import SOLVED, Greedy, mean_return

EVALUATED_EVERY, MOST_STEPS, EPISODES = 1024, 100_000, 20


class Trial:
    """Counts the time of training alone; evaluation is the same for all, and stops the clock."""

    def __init__(self) -> None:
        self.curve: list[tuple[int, float]] = []
        self._seconds, self._processor_seconds = 0.0, 0.0
        self._start()

    def is_over(self, steps: int, choose: Greedy) -> bool:
        """Asked after every update."""
        if steps % EVALUATED_EVERY:
            return False
        self._seconds += time.perf_counter() - self._since
        self._processor_seconds += time.process_time() - self._processor_since
        self.curve.append((steps, mean_return(choose, EPISODES, seed=steps)))
        self._start()
        return self.curve[-1][1] >= SOLVED or steps >= MOST_STEPS

    def tell(self) -> None:
        steps, reached = self.curve[-1]
        told = {"solved": reached >= SOLVED, "steps": steps, "seconds": self._seconds}
        print(json.dumps({**told, "processor_seconds": self._processor_seconds, "curve": self.curve}))

    def _start(self) -> None:
        self._since, self._processor_since = time.perf_counter(), time.process_time()
