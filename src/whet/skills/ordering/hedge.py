"""Weights for experts such that following them loses little more than the best expert, whatever comes.

AdaHedge: de Rooij, van Erven, Grünwald, Koolen, "Follow the leader if you can, hedge if you must", 2014. Drawing an
expert by these weights loses, over T rounds with losses in 0..1 of which the best expert loses L, at most
L + 2 √(L (T − L) / T · ln K) + 16/3 · ln K + 2 in expectation (their theorem 8), with nothing to tune; against one
whose prior p is less than 1/K, (1 + ln(1/p) / ln K) / 2 times that excess. An expert that has nothing to say in a round
(no change is known) sleeps: it is given the loss of the mixture, which moves neither its weight nor the others'
(Freund, Schapire, Singer, Warmuth, "Using and combining predictors that specialize", 1997).
"""

import math
from collections.abc import Mapping

import numpy as np

from whet.skills.ordering.columns import Column

_NO_GAP = 1e-12  # below it the rate is beyond what floats can tell from infinite


class AdaHedge:
    def __init__(self, priors: Mapping[str, float]) -> None:
        self.names = tuple(priors)
        self._log_priors = np.log(np.array(list(priors.values())) / math.fsum(priors.values()))
        self.losses = np.zeros(len(priors))
        self.gap = 0.0  # the mixability gap: what hedging has cost so far; sets the learning rate

    def weights(self, awake: Mapping[str, bool] | None = None) -> dict[str, float]:
        """Of those awake; they sum to one."""
        up = np.array([awake is None or awake[name] for name in self.names])
        behind = np.where(up, self.losses - self.losses[up].min(), np.inf)
        logs = self._log_priors - self._rate_times(behind)
        shares = np.exp(logs - logs.max())
        return dict(zip(self.names, (shares / shares.sum()).tolist(), strict=True))

    def learn(self, losses: Mapping[str, float]) -> None:
        """Losses of those awake, 0 to 1."""
        weights = self.weights({name: name in losses for name in self.names})
        mixture = math.fsum(weights[name] * loss for name, loss in losses.items())
        told = np.array([losses.get(name, mixture) for name in self.names])
        mix = self._mix_loss(np.array([weights[name] for name in self.names]), told)
        self.gap += max(0.0, mixture - mix)
        self.losses += told

    def _mix_loss(self, weights: Column, losses: Column) -> float:
        awake = weights > 0
        least = float(losses[awake].min())
        if self.gap < _NO_GAP:
            return least  # the rate is infinite: the best expert of the round
        rate = math.log(len(self.names)) / self.gap
        return least - math.log(float(weights[awake] @ np.exp(-rate * (losses[awake] - least)))) / rate

    def _rate_times(self, excess: Column) -> Column:
        if self.gap < _NO_GAP:
            return np.where(excess > 0, np.inf, 0.0)
        return excess * (math.log(len(self.names)) / self.gap)
