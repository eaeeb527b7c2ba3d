// Records one trace with OpenTelemetry's SDK for Go and exports it as its environment variables say; prints the ids.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
)

var attributes = []attribute.KeyValue{
	attribute.String("text", "Größe 😀"),
	attribute.Bool("true", true),
	attribute.Int64("int", 1<<53),
	attribute.Float64("double", 0.1),
	attribute.StringSlice("texts", []string{"a", ""}),
	attribute.BoolSlice("bools", []bool{true, false}),
	attribute.Int64Slice("ints", []int64{1, -2}),
	attribute.Float64Slice("doubles", []float64{0.5, 1.5}),
	// Only this SDK has them.
	attribute.Int64("min", math.MinInt64),
	attribute.Float64("nan", math.NaN()),
}

type recorded struct {
	Name   string `json:"name"`
	SpanID string `json:"spanId"`
}

func record(provider *sdk.TracerProvider) {
	tracer := provider.Tracer("shop",
		trace.WithInstrumentationVersion("1.2.3"),
		trace.WithSchemaURL("https://opentelemetry.io/schemas/1.41.0"),
		trace.WithInstrumentationAttributes(attribute.String("scope", "value")))
	ctx, root := tracer.Start(context.Background(), "run",
		trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(attributes...))
	if filling, err := strconv.Atoi(os.Getenv("FILLING_BYTES")); err == nil {
		root.SetAttributes(attribute.String("filling", strings.Repeat("x", filling)))
	}
	root.AddEvent("retry", trace.WithAttributes(attribute.Int("count", 2)),
		trace.WithTimestamp(time.Unix(0, 1_795_206_705_954_000_001)))
	traceID, _ := trace.TraceIDFromHex("0af7651916cd43dd8448eb211c80319c")
	spanID, _ := trace.SpanIDFromHex("b7ad6b7169203331")
	state, _ := trace.ParseTraceState("a=b")
	other := trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: traceID, SpanID: spanID, TraceFlags: trace.FlagsSampled, TraceState: state, Remote: true,
	})
	_, child := tracer.Start(ctx, "call", trace.WithSpanKind(trace.SpanKindClient),
		trace.WithLinks(trace.Link{SpanContext: other, Attributes: []attribute.KeyValue{attribute.String("why", "cause")}}))
	child.SetStatus(codes.Error, "boom")
	child.End()
	root.End()
	text, _ := json.Marshal(map[string]any{
		"traceId": root.SpanContext().TraceID().String(),
		"spans": []recorded{
			{"run", root.SpanContext().SpanID().String()},
			{"call", child.SpanContext().SpanID().String()},
		},
	})
	fmt.Println(string(text))
}

func main() {
	ctx := context.Background()
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		panic(err)
	}
	if names := os.Getenv("ONE_REQUEST_FROM"); names != "" {
		// Spans of several services in one request, as a Collector sends them.
		memory := tracetest.NewSpanRecorder()
		for _, name := range strings.Split(names, ",") {
			described := resource.NewSchemaless(attribute.String("service.name", name))
			record(sdk.NewTracerProvider(sdk.WithResource(described), sdk.WithSpanProcessor(memory)))
		}
		if err := exporter.ExportSpans(ctx, memory.Ended()); err != nil {
			otel.Handle(err)
		}
		return
	}
	provider := sdk.NewTracerProvider(sdk.WithBatcher(exporter))
	record(provider)
	if err := provider.Shutdown(ctx); err != nil {
		otel.Handle(err)
	}
}
