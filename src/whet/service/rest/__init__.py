"""The same for programs: JSON in, JSON out, described by /openapi.json."""

from whet.service.rest import experiences, feedback, keys, lists, memory, models, openapi, predict, rewards, training

REST = tuple(
    part.router for part in (predict, experiences, training, models, memory, rewards, lists, feedback, keys, openapi)
)
