// The recorded exports of agent frameworks in test/fixtures/otlp/recorded, and what each must give.
import { existsSync, readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { mergeBatches } from "../../../src/model/trace/merge.ts";
import type { Batch, MergedTrace } from "../../../src/model/trace/trace.ts";
import { decodeBody } from "../../../src/wire/body.ts";
import { decodeLimits } from "../../../src/wire/limits.ts";
import { decodeLogs } from "../../../src/wire/otlp-logs.ts";

export type Expected = {
  service: string | null;
  /** The code by which the whole export is refused. */
  refused?: string;
  traces: number;
  "user input": string[] | null;
  reply: string[] | null;
  "tool call": { name: string; args: unknown } | null;
  calls: number | null;
  "tool result": string | null;
  "tokens in/out, each call counted once": [number, number] | null;
  conversation: string | null;
  user: string | null;
  "model, any of": string[] | null;
  failed: boolean;
  /** Per value: on a span, or only in log records. */
  "lies in": Record<string, "span" | "log">;
};

const folder = new URL("../../fixtures/otlp/recorded/", import.meta.url);

const all: [name: string, expected: Expected][] = Object.entries(
  JSON.parse(readFileSync(new URL("expected.json", folder), "utf8")),
);

/** Exports that are refused as a whole are not among them. */
export const recordings = all.filter(([, { refused }]) => refused === undefined);
export const refusedRecordings = all.filter(([, { refused }]) => refused !== undefined);

export type Encoding = "json" | "protobuf";

/** The body of the request, decompressed. `signal`: the export of spans, or that of log records, which some lack. */
export function recordedBody(name: string, encoding: Encoding, signal: "traces" | "logs" = "traces"): Buffer {
  const extension = `${signal === "logs" ? "logs." : ""}${encoding === "json" ? "json" : "pb"}`;
  return gunzipSync(readFileSync(new URL(`${name}.${extension}.gz`, folder)));
}

const hasLogs = (name: string) => existsSync(new URL(`${name}.logs.pb.gz`, folder));

/** The names of the recordings with log records. */
export const recordedLogs: string[] = recordings.map(([name]) => name).filter(hasLogs);

export function recordedGroups(name: string, encoding: Encoding) {
  const body = decodeBody(recordedBody(name, encoding), encoding, decodeLimits);
  if (body.path !== "otlp") throw new Error("The recording is not OTLP.");
  return body.groups;
}

export function recordedBatches(name: string, encoding: Encoding = "protobuf"): Batch[] {
  return recordedGroups(name, encoding).map(({ batch }) => batch);
}

/** The log records by trace id, as batches. */
export function recordedRecords(name: string, encoding: Encoding): Map<string, Batch[]> {
  const batches = new Map<string, Batch[]>();
  if (!hasLogs(name)) return batches;
  const body = recordedBody(name, encoding, "logs");
  for (const { traceId, ...logRecords } of decodeLogs(body, encoding, decodeLimits, () => true).flatMap(
    service => service.spans,
  )) {
    const batch: Batch = { spans: [], resource: null, metadata: null, logRecords };
    batches.set(traceId, [...(batches.get(traceId) ?? []), batch]);
  }
  return batches;
}

/** With their log records. */
export function recordedTraces(name: string, encoding: Encoding = "protobuf"): MergedTrace[] {
  const records = recordedRecords(name, encoding);
  return recordedGroups(name, encoding).map(({ traceId, batch }) =>
    mergeBatches([batch, ...(records.get(traceId ?? "") ?? [])], "otlp"),
  );
}
