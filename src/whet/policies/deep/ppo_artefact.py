"""What PPO saved, read and checked without torch: of its two networks the actor, which is all that acting needs."""

from itertools import pairwise
from pathlib import Path

from pydantic import ValidationError

from whet.policies.deep import artefacts
from whet.policies.deep.artefacts import Array
from whet.policies.deep.ppo_config import Config

KIND, ACTOR = "ppo", "actor."
Layers = list[tuple[Array, Array]]  # weights, outputs × inputs, and offsets; tanh between them


def layers_in(folder: Path) -> tuple[Config, Layers, str]:
    """With the digest of the save. Refused by name when the layers do not fit the config."""
    artefact = artefacts.read(folder, KIND)
    try:
        config = Config.model_validate(artefact.manifest.config)
    except ValidationError as error:
        artefacts.refuse(folder / artefacts.NAME, f"its config is none of PPO ({error.errors()[0]['msg']})")
    mine = {name: array for name, array in artefact.tensors.items() if name.startswith(ACTOR)}
    artefact._replace(tensors=mine).require_shapes(_shapes(config))
    places = range(len(config.hidden) + 1)
    layers = [(mine[f"{ACTOR}{2 * place}.weight"], mine[f"{ACTOR}{2 * place}.bias"]) for place in places]
    return config, layers, artefact.manifest.sha256


def _shapes(config: Config) -> dict[str, tuple[int, ...]]:
    """Of the actor of `ppo_network.ActorCritic`: its layers have even numbers, tanh the odd ones."""
    shapes: dict[str, tuple[int, ...]] = {}
    for place, (inputs, outputs) in enumerate(pairwise((config.layout.size, *config.hidden, len(config.actions)))):
        shapes |= {f"{ACTOR}{2 * place}.weight": (outputs, inputs), f"{ACTOR}{2 * place}.bias": (outputs,)}
    return shapes
