"""OpenTelemetry, when its environment variables say where traces go. The web framework makes the spans.

OTEL_TRACES_EXPORTER=otlp OTEL_EXPORTER_OTLP_ENDPOINT=http://collector:4318 whet serve
"""

import os
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from typing import Final

from whet.core.errors import MissingTool, WhetError
from whet.service.logs import without_secrets

_EXPORTER: Final = "OTEL_TRACES_EXPORTER"
_ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")


def begin_tracing() -> bool:
    """False when nobody asked for it."""
    wanted = os.environ.get(_EXPORTER) or ("otlp" if any(os.environ.get(name) for name in _ENDPOINTS) else "none")
    if wanted == "none" or os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return False
    if find_spec("opentelemetry") is None or find_spec("opentelemetry.sdk") is None:
        raise MissingTool("Traces need opentelemetry-sdk.", "Run pip install 'whet[tracing]'.")
    _export(wanted)
    return True


def _export(wanted: str) -> None:
    from opentelemetry import trace
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import Span, SpanProcessor, TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    class Discreet(SpanProcessor):
        """Paths and queries are what somebody sent: a key in them goes no further."""

        def on_start(self, span: Span, parent_context: object = None) -> None:
            for name, value in dict(span.attributes or {}).items():
                if isinstance(value, str) and (told := without_secrets(value)) != value:
                    span.set_attribute(name, told)

    name = os.environ.get("OTEL_SERVICE_NAME", "whet")
    provider = TracerProvider(resource=Resource.create({"service.name": name}))
    provider.add_span_processor(Discreet())
    provider.add_span_processor(BatchSpanProcessor(_exporter(wanted).load()()))
    trace.set_tracer_provider(provider)


def _exporter(wanted: str) -> EntryPoint:
    found = list(entry_points(group="opentelemetry_traces_exporter", name=wanted))
    if not found:
        raise WhetError(
            f"There is no exporter {wanted!r} for traces.",
            "Install one, such as opentelemetry-exporter-otlp, or take back OTEL_TRACES_EXPORTER.",
        )
    return found[0]
