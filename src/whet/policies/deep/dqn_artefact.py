"""What a DQN saved, read and checked without torch."""

from pathlib import Path

from pydantic import ValidationError

from whet.policies.deep import artefacts
from whet.policies.deep.artefacts import Array, Artefact
from whet.policies.deep.dqn_config import Config

KIND, ONLINE = "dqn", "online."


def read(folder: Path) -> tuple[Artefact, Config]:
    artefact = artefacts.read(folder, KIND)
    try:
        return artefact, Config.model_validate(artefact.manifest.config)
    except ValidationError as error:
        artefacts.refuse(folder / artefacts.NAME, f"its config is none of a DQN ({error.errors()[0]['msg']})")


def weights_in(folder: Path) -> tuple[Config, dict[str, Array]]:
    """Of the network that acts, without what only learning needs. Refused by name when they do not fit the config."""
    artefact, config = read(folder)
    mine = {name: array for name, array in artefact.tensors.items() if name.startswith(ONLINE)}
    artefact._replace(tensors=mine).require_shapes({ONLINE + name: shape for name, shape in shapes_of(config).items()})
    return config, {name.removeprefix(ONLINE): array for name, array in mine.items()}


def shapes_of(config: Config) -> dict[str, tuple[int, ...]]:
    """Of every weight of `networks.QNetwork`."""
    layout, sizes, actions = config.layout, config.network, len(config.actions)
    (first, summary), heads, stream, width = sizes.encoder, sizes.heads, sizes.stream, sizes.attention
    shapes: dict[str, tuple[int, ...]] = {
        **_linear("encoder.0", layout.state_size, first), **_norm("encoder.1", first),
        **_linear("encoder.3", first, summary), **_norm("encoder.4", summary),
        **_linear("heads.streams", summary, heads * 2 * stream),
        "heads.worth": (heads, stream, 1), "heads.worth_offsets": (heads, 1),
        "heads.advantage": (heads, stream, actions), "heads.advantage_offsets": (heads, actions),
    }  # fmt: skip
    if layout.attended > 1:
        shapes |= {"attention.groups": (layout.tokens, layout.width, width)}
        shapes |= {"attention.group_offsets": (layout.tokens, width), "attention.key.weight": (width, width)}
        shapes |= _norm("attention.norm", width) | _linear("attention.query", summary, width)
        shapes |= _linear("attention.value", width, width) | _linear("attention.output", width, summary)
    if layout.memories:
        shapes |= _linear("attention.memory", layout.memory_width, width)
    return shapes


def _linear(name: str, inputs: int, outputs: int) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}


def _norm(name: str, size: int) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": (size,), f"{name}.bias": (size,)}
