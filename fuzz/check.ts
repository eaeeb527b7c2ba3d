// Checks a mutant without a service: it is refused as documented, or prepared, stored, read back and shown.

import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { isDeepStrictEqual } from "node:util";
import { BodyReader } from "../src/http/ingestion/read-body.ts";
import { prepareBody } from "../src/ingest/prepare.ts";
import { prepareLogs } from "../src/ingest/prepare-logs.ts";
import type { PreparedBatch } from "../src/ingest/prepared.ts";
import type { Readers } from "../src/ingest/readers.ts";
import { type LoadedTrace, readAgain } from "../src/load.ts";
import type { ReadBy } from "../src/model/agent/read-by.ts";
import { Refusal } from "../src/model/refusal.ts";
import type { RefusalCode } from "../src/model/refusals.ts";
import { mergeBatches } from "../src/model/trace/merge.ts";
import type { Attributes, Batch, TracePath } from "../src/model/trace/trace.ts";
import { derive } from "../src/reading/derived/derive.ts";
import { openTraceReader, type TraceVersion } from "../src/trace-reader.ts";
import { readBatch, readResource, scan } from "../src/wire/batch.ts";
import { decodeBody } from "../src/wire/body.ts";
import { decodeLimits } from "../src/wire/limits.ts";
import { differenceAsReceived } from "./as-received.ts";
import { differenceOfEncodings } from "./encodings.ts";
import type { Mutant } from "./mutant.ts";
import { Random } from "./random.ts";
import { serviceName } from "./seeds.ts";

/** What a mutant did that no request may do. */
export class Finding extends Error {
  override name = "Finding";
}

const wholeRefusals = new Set<RefusalCode>([
  "VALIDATION_ERROR",
  "OTLP_NO_SPANS",
  "OTLP_PROTOBUF_INVALID",
  "PAYLOAD_TOO_LARGE",
]);
const groupRefusals = new Set<RefusalCode>([
  "VALIDATION_ERROR",
  "OTLP_ID_INVALID",
  "OTLP_SERVICE_NAME_REQUIRED",
  "PAYLOAD_TOO_LARGE",
]);

const agentId = "0199f3a0-0000-7000-8000-000000000001";
const byNothing: ReadBy = { conventions: [], conventionRules: [] };
const byAll: ReadBy = {
  conventions: ["*"],
  conventionRules: [
    { from: "input.value", to: "gen_ai.prompt" },
    { from: "my.user", to: "user.id" },
  ],
};
const storing = {
  projectId: "fuzz",
  revision: 1,
  pseudonymKey: "fuzz",
  rules: {
    builtIn: ["*"],
    rules: [{ name: "order", pattern: "[A-Z]-\\d+", flags: "i" }],
    pseudonyms: ["session.id"],
  },
};

const readersOf = (by: ReadBy, more: Partial<Readers & Readers["agents"][number]> = {}): Readers => ({
  agents: [{ agentId, serviceName, ...by, intake: more.intake }],
  only: agentId,
  storing: more.storing ?? null,
});
const noContent = { content: "none" as const, attributes: { deny: ["http.*"], allow: null } };

/** By what agents may be set to; most mutants are read by nothing, which leaves time for more of them. */
const variants: { readers: Readers | null; by: ReadBy }[] = [
  ...Array.from({ length: 5 }, () => ({ readers: null, by: byNothing })),
  { readers: readersOf(byAll), by: byAll },
  { readers: readersOf(byAll, { storing }), by: byAll },
  { readers: readersOf(byAll, { intake: noContent }), by: byAll },
];

/** Returns the code of the result: OK, PARTIAL or that of the refusal. Throws a Finding, or what the code threw. */
export async function check(mutant: Mutant): Promise<string> {
  const random = new Random(mutant.seed, `check ${mutant.path}`, mutant.number);
  const { readers, by } = random.pick(variants);
  const bytes = await inflated(mutant);
  if (!Buffer.isBuffer(bytes)) return bytes.code;
  const result =
    mutant.endpoint === "logs"
      ? checkLogs(mutant, bytes, readers)
      : await checkTraces(mutant, bytes, random, readers, by);
  if (Object.keys(Object.prototype).length > 0 || "polluted" in {})
    throw new Finding("the prototype of objects was changed");
  return result;
}

/** Of the traces that are stored. */
const shownShare = 0.2;

const reader = new BodyReader();

async function inflated({ body, gzip, mediaType }: Mutant): Promise<Buffer | Refusal> {
  if (!gzip) return body;
  const request = Object.assign(Readable.from([body]), {
    headers: { "content-length": `${body.length}` },
    complete: true,
  });
  try {
    const from = request as unknown as IncomingMessage;
    const { bytes, release } = await reader.read(from, {} as ServerResponse, "gzip", mediaType, [
      "account",
      "key",
    ]);
    release();
    return bytes;
  } catch (error) {
    return refusalOf(error, wholeRefusals);
  }
}

/** The error, which must be one of these refusals and say something short. */
function refusalOf(error: unknown, allowed: Set<RefusalCode>): Refusal {
  if (!(error instanceof Refusal)) throw error;
  if (!allowed.has(error.code)) throw new Finding(`refused with ${error.code}`);
  if (JSON.stringify([error.message, error.hint, error.issues]).length > 20_000)
    throw new Finding("the refusal is longer than 20,000 characters");
  return error;
}

function checkLogs({ mediaType }: Mutant, bytes: Buffer, readers: Readers | null): string {
  try {
    const services = prepareLogs(bytes, mediaType, decodeLimits, readers);
    const refused = services.flatMap(service => service.refused);
    for (const { refusal } of refused) refusalOf(refusal, groupRefusals);
    for (const { spans } of services) for (const { bytes } of spans) readBatch(scan(bytes));
    return refused.length > 0 ? "PARTIAL" : "OK";
  } catch (error) {
    return refusalOf(error, wholeRefusals).code;
  }
}

async function checkTraces(
  { mediaType }: Mutant,
  bytes: Buffer,
  random: Random,
  readers: Readers | null,
  by: ReadBy,
): Promise<string> {
  let body: ReturnType<typeof prepareBody>;
  try {
    body = prepareBody(bytes, mediaType, decodeLimits, readers);
  } catch (error) {
    const { code } = refusalOf(error, wholeRefusals);
    return code;
  }
  const kept = random.chance(0.2) && readers === null ? decodeBody(bytes, mediaType, decodeLimits) : null;
  if (random.chance(0.5)) {
    const difference = differenceAsReceived(bytes, mediaType, readers);
    if (difference) throw new Finding(`stored as it arrived, the request differs: ${difference}`);
  }
  if (mediaType === "json" && body.path === "otlp" && random.chance(0.3)) {
    const difference = differenceOfEncodings(bytes);
    if (difference) throw new Finding(`JSON and protobuf differ: ${difference}`);
  }
  if (body.path === "canonical") {
    const batch = readAndCompare(body.batch, undefined, kept?.path === "canonical" ? kept.batch : undefined);
    if (random.chance(shownShare)) await show(batch, "canonical", by);
    return "OK";
  }
  const resources = body.resources.map(({ bytes }) => readResource(scan(bytes)));
  let refused = 0;
  let shown = 0;
  for (const [at, group] of body.groups.entries()) {
    if ("refusal" in group) {
      refusalOf(group.refusal, groupRefusals);
      refused++;
      continue;
    }
    const resource = group.resource === null ? undefined : resources[group.resource];
    const decoded = kept?.path === "otlp" ? kept.groups[at]?.batch : undefined;
    const batch = readAndCompare(group.batch, resource, decoded);
    if (shown++ < 2 && random.chance(shownShare)) await show(batch, "otlp", by);
  }
  if (refused === body.groups.length) return (body.groups[0] as { refusal: Refusal }).refusal.code;
  return refused > 0 ? "PARTIAL" : "OK";
}

/** What is stored is what was decoded, and its columns are valid for PostgreSQL. */
function readAndCompare(
  prepared: PreparedBatch,
  resource: Attributes | undefined,
  decoded: Batch | undefined,
): Batch {
  const batch = readBatch(scan(prepared.bytes), resource);
  if (decoded && !isDeepStrictEqual(batch, withoutNegativeZero(decoded)))
    throw new Finding("what is stored is not what was decoded");
  for (const [name, value] of Object.entries(prepared.columns)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (typeof one === "string" && (!one.isWellFormed() || one.includes("\0")))
        throw new Finding(`the column ${name} cannot be stored as text`);
      if (typeof one === "number" && !Number.isFinite(one)) throw new Finding(`the column ${name} is ${one}`);
    }
  }
  return batch;
}

/** JSON has no −0 of its own: JSON.stringify writes 0. */
function withoutNegativeZero<T>(value: T): T {
  if (value === 0) return 0 as T;
  if (Array.isArray(value)) return value.map(withoutNegativeZero) as T;
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, content]) => [key, withoutNegativeZero(content)]);
  return Object.fromEntries(entries) as T;
}

const prices = { own: [], day: "2026-11-24" };
const version: TraceVersion = { traceId: "t", revision: 1, bytes: 0 } as unknown as TraceVersion;

/** Opens the trace as its pages do: outline, whole, conversation, turn, and a span. */
async function show(batch: Batch, path: TracePath, by: ReadBy): Promise<void> {
  const trace = mergeBatches([batch], path);
  const derived = derive(trace);
  const stored = { traceId: "t", agentId, accountId: "a", revision: 1, stale: false, heapBytes: 0 };
  const plain: LoadedTrace = {
    ...stored,
    ...byNothing,
    trace,
    derived,
    reading: null,
    read: trace,
  } as LoadedTrace;
  const loaded = readAgain(plain, by);
  const pages = openTraceReader(async () => loaded);
  const given = { traceId: "t", prices, version };
  const outline = await pages.outline(given);
  JSON.parse(Buffer.from(outline!.spans).toString());
  const whole = await pages.whole(given);
  const { spans } = JSON.parse(Buffer.from(whole!.json).toString());
  if (spans.length !== trace.spans.length) throw new Finding("the page has another number of spans");
  await pages.conversation(given);
  await pages.turn(given);
  await pages.raw({ ...given, externalId: "t", path });
  const first = trace.spans[0];
  if (first) await pages.span({ ...given, spanId: first.span_id, whole: false, read: true });
}
