// The batches of a trace may arrive in any order and any number of times, with the same stored trace in the end.

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { ListedTrace, TraceDetail } from "../../src/http/traces/schemas.ts";
import { newTraceId } from "../support/bodies.ts";
import { serviceName } from "../support/service.ts";
import { world } from "../support/world.ts";
import { otlpSpan } from "../wire/make-body.ts";

const service = world({ roles: ["http"] });

type Json = Record<string, unknown>;

const nanos = fc.option(
  fc.integer({ min: 1, max: 6 }).map(tick => `${1_767_225_600_000_000_000n + BigInt(tick)}`),
  {
    nil: undefined,
  },
);
const text = fc.oneof(fc.constantFrom("Hello", "", "\u0000", "\ud800"), fc.string());
const attribute = fc.tuple(
  fc.constantFrom(
    "gen_ai.response.text",
    "gen_ai.prompt",
    "gen_ai.request.model",
    "gen_ai.tool.name",
    "gen_ai.usage.input_tokens",
    "http.response.status_code",
  ),
  fc.oneof(
    text.map(stringValue => ({ stringValue })),
    fc.constantFrom("200", "404", "7").map(intValue => ({ intValue })),
  ),
);

/** A span by its number; its parent is another span, itself, one that never arrives, or none. */
const span = (number: number) =>
  fc
    .record({
      parent: fc.integer({ min: 0, max: 14 }),
      name: fc.constantFrom("root", "step", "tool", ""),
      start: nanos,
      end: nanos,
      code: fc.constantFrom(0, 1, 2),
      attributes: fc.uniqueArray(attribute, { selector: ([key]) => key, maxLength: 4 }),
    })
    .map(({ parent, name, start, end, code, attributes }) => ({
      spanId: idOf(number),
      ...(parent > 0 && { parentSpanId: idOf(parent) }),
      name,
      ...(start !== undefined && { startTimeUnixNano: start }),
      ...(end !== undefined && { endTimeUnixNano: end }),
      status: { code },
      attributes: attributes.map(([key, value]) => ({ key, value })),
    }));

const idOf = (number: number) => number.toString(16).padStart(16, "0");

type Batch = { resource: string; scope: string; spans: Json[] };

/** Spans dealt into batches, each span under one resource and one scope wherever it appears. */
const batches: fc.Arbitrary<Batch[]> = fc.integer({ min: 1, max: 10 }).chain(count =>
  fc
    .tuple(
      fc.tuple(...Array.from({ length: count }, (_, at) => span(at + 1))),
      fc.array(fc.integer({ min: 0, max: 3 }), { minLength: count, maxLength: count }),
      fc.array(fc.constantFrom("host-1", "host-2"), { minLength: 4, maxLength: 4 }),
    )
    .map(([spans, dealt, hosts]) =>
      [0, 1, 2, 3]
        .map(batch => ({
          resource: hosts[batch]!,
          scope: `scope-${batch % 2}`,
          spans: spans.filter((_, at) => dealt[at] === batch),
        }))
        .filter(batch => batch.spans.length > 0),
    ),
);

/** The same batches in two deliveries: each at least once, each time in its own order. */
const deliveries = batches.chain(all => {
  const delivery = fc
    .tuple(
      fc.shuffledSubarray(all, { minLength: all.length, maxLength: all.length }),
      fc.array(fc.constantFrom(...all), { maxLength: 4 }),
    )
    .chain(([once, again]) => {
      const whole = [...once, ...again];
      return fc.shuffledSubarray(whole, { minLength: whole.length, maxLength: whole.length });
    });
  return fc.tuple(delivery, delivery);
});

async function deliver(sent: Batch[]) {
  const traceId = newTraceId();
  for (const { resource, scope, spans } of sent) {
    const attributes = [
      { key: "service.name", value: { stringValue: serviceName } },
      { key: "host.name", value: { stringValue: resource } },
    ];
    const scopeSpans = [{ scope: { name: scope }, spans: spans.map(one => otlpSpan({ ...one, traceId })) }];
    const answer = await service.send({
      body: { resourceSpans: [{ resource: { attributes }, scopeSpans }] },
    });
    assert.equal(answer.status, 200);
  }
  const query = new URLSearchParams({ externalId: traceId });
  const body = await service.read(`/api/agents/${service.agentId}/traces?${query}`);
  assert.equal(body.items.length, 1);
  return { listed: comparable(body.items[0]!), detail: comparable(await detail(body.items[0]!.id)) };
}

async function detail(id: string) {
  return await service.read(`/api/traces/${id}`);
}

/** Without what differs by delivery: ids, times of arrival, number of batches. */
function comparable({
  id,
  externalId,
  receivedAt,
  updatedAt,
  revision,
  ...trace
}: ListedTrace | TraceDetail) {
  return trace;
}

test("a stored trace does not depend on the order and repetition of its batches", async () => {
  await fc.assert(
    fc.asyncProperty(deliveries, async ([first, second]) => {
      assert.deepEqual(await deliver(second), await deliver(first));
    }),
    { numRuns: 60 },
  );
});
