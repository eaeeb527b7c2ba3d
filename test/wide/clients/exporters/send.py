# Records one trace with OpenTelemetry's SDK for Python and exports it as its environment variables say; prints the ids.
import json
import os

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import Link, SpanContext, SpanKind, StatusCode, TraceFlags, TraceState

attributes = {
    "text": "Größe 😀",
    "true": True,
    "int": 2**53,
    "double": 0.1,
    "texts": ["a", ""],
    "bools": [True, False],
    "ints": [1, -2],
    "doubles": [0.5, 1.5],
}


def record(provider):
    tracer = provider.get_tracer("shop", "1.2.3", "https://opentelemetry.io/schemas/1.41.0", {"scope": "value"})
    with tracer.start_as_current_span("run", kind=SpanKind.SERVER, attributes=attributes) as root:
        if "FILLING_BYTES" in os.environ:
            root.set_attribute("filling", "x" * int(os.environ["FILLING_BYTES"]))
        root.add_event("retry", {"count": 2}, timestamp=1_795_206_705_954_000_001)
        other = SpanContext(0xAF7651916CD43DD8448EB211C80319C, 0xB7AD6B7169203331, True, TraceFlags(1), TraceState([("a", "b")]))
        with tracer.start_as_current_span("call", kind=SpanKind.CLIENT, links=[Link(other, {"why": "cause"})]) as child:
            child.set_status(StatusCode.ERROR, "boom")
    ids = [{"name": span.name, "spanId": f"{span.context.span_id:016x}"} for span in (root, child)]
    print(json.dumps({"traceId": f"{root.context.trace_id:032x}", "spans": ids}), flush=True)


exporter = OTLPSpanExporter()
if "ONE_REQUEST_FROM" in os.environ:
    # Spans of several services in one request, as a Collector sends them.
    memory = InMemorySpanExporter()
    for name in os.environ["ONE_REQUEST_FROM"].split(","):
        provider = TracerProvider(resource=Resource({"service.name": name}))
        provider.add_span_processor(SimpleSpanProcessor(memory))
        record(provider)
    exporter.export(memory.get_finished_spans())
else:
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(exporter))
    record(provider)
    provider.shutdown()
