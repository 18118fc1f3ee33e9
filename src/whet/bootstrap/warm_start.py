"""A new project's agents begin with what other projects' worlds taught; no extra is needed for it."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from whet.agents.catalogue import AGENTS, agent_named
from whet.bootstrap.assembly import MODELS, valuing
from whet.bootstrap.site import Site, make_state_dir
from whet.bootstrap.training_worlds import worlds_from
from whet.core.errors import WhetError
from whet.improvement.spots import spots
from whet.improvement.warm_start import learned_prior
from whet.policies.warm_start import FILE, NAME, Prior


class Begun(NamedTuple):
    """One agent's: `path` None: there was nothing to begin with, for the reason that `told` gives."""

    agent: str
    prior: Prior | None
    path: Path | None
    told: str


def warm_starts(site: Site, agent: str, source: str, out: Path | None) -> Sequence[Begun]:
    """Of one agent, or of all: there, whoever has nothing to begin with is told and left as it is."""
    if agent != "all":
        return [_begun(site, agent, source, out)]
    found = []
    for name in AGENTS:
        try:
            found.append(_begun(site, name, source, None if out is None else out / name))
        except WhetError as error:
            found.append(Begun(name, None, None, str(error)))
    return found


def _begun(site: Site, agent: str, source: str, out: Path | None) -> Begun:
    how = valuing(site.settings)
    worlds = worlds_from(site, agent_named(agent), source)
    prior = learned_prior(agent, {world.name: spots(world, how.profile, how.weights) for world in worlds})
    folder = out or site.state_dir / MODELS / agent / NAME
    make_state_dir(site.state_dir)
    folder.mkdir(parents=True, exist_ok=True)
    part = folder / f".{FILE}"
    part.write_text(prior.model_dump_json(indent=1) + "\n", encoding="utf-8")
    part.replace(folder / FILE)
    return Begun(agent, prior, folder / FILE, ", ".join(prior.sources))
