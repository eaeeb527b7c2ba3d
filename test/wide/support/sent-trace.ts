// Compares a stored trace with what the programs in test/wide/clients/exporters record.
import assert from "node:assert/strict";
import type { Span } from "../../../src/model/trace/trace.ts";
import { serviceName } from "../../support/service.ts";
import type { SenderName } from "./senders.ts";

/** What a program prints. */
export type Recorded = { traceId: string; spans: { name: string; spanId: string }[] };

export const recordedIn = (stdout: string): Recorded[] =>
  stdout
    .trim()
    .split("\n")
    .map(line => JSON.parse(line) as Recorded);

/** From `GET /api/traces/:id/raw`. */
export type RawTrace = { resource: Record<string, unknown>; spans: Span[] };

const schema = "https://opentelemetry.io/schemas/1.41.0";

/** Compares everything but the times of the spans, which are compared with each other. */
export function assertUnaltered(name: SenderName, trace: RawTrace, sent: Recorded): void {
  const idOf = (span: string) => sent.spans.find(one => one.name === span)!.spanId;
  const { resource } = trace;
  assert.deepEqual(
    [resource["service.name"], resource["deployment.environment.name"]],
    [serviceName, "test"],
  );
  // Python's flags have no bit for "sampled"; Node.js has no attributes of scopes, and alone sends the state of links.
  const sampled = name === "Python" ? 0 : 1;
  const scope = {
    name: "shop",
    version: "1.2.3",
    ...(name !== "Node.js" && { attributes: { scope: "value" } }),
    schema_url: schema,
  };
  const timeless = trace.spans.map(({ start_time_unix_nano: start, end_time_unix_nano: end, ...span }) => {
    assert.ok(BigInt(start!) <= BigInt(end!));
    return span;
  });
  const resourceSchema = name === "Go" ? { resource_schema_url: timeless[0]!.resource_schema_url } : {};
  assert.deepEqual(timeless, [
    {
      span_id: idOf("run"),
      parent_span_id: null,
      name: "run",
      attributes: {
        text: "Größe 😀",
        true: true,
        int: "9007199254740992",
        double: 0.1,
        texts: ["a", ""],
        bools: [true, false],
        ints: [1, -2],
        doubles: [0.5, 1.5],
        ...(name === "Go" && { min: "-9223372036854775808", nan: "NaN" }),
      },
      status: null,
      events: [{ name: "retry", time_unix_nano: "1795206705954000001", attributes: { count: 2 } }],
      kind: 2,
      flags: 256 + sampled,
      scope,
      ...resourceSchema,
    },
    {
      span_id: idOf("call"),
      parent_span_id: idOf("run"),
      name: "call",
      attributes: {},
      status: { code: 2, message: "boom" },
      events: [],
      kind: 3,
      links: [
        {
          trace_id: "0af7651916cd43dd8448eb211c80319c",
          span_id: "b7ad6b7169203331",
          attributes: { why: "cause" },
          ...(name === "Node.js" && { trace_state: "a=b" }),
          flags: 768 + sampled,
        },
      ],
      flags: 256 + sampled,
      scope,
      ...resourceSchema,
    },
  ]);
  if (name === "Go")
    assert.match(timeless[0]!.resource_schema_url!, /^https:\/\/opentelemetry\.io\/schemas\//);
}
