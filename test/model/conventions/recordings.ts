// The recorded exports of agent frameworks in test/fixtures/otlp/recorded, and what each must give.
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { mergeBatches } from "../../../src/model/trace/merge.ts";
import type { Batch, MergedTrace } from "../../../src/model/trace/trace.ts";
import { decodeBody } from "../../../src/wire/body.ts";
import { decodeLimits } from "../../../src/wire/limits.ts";

export type Expected = {
  service: string;
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
  /** Per value: on a span, or only in log records, which are not read. */
  "lies in": Record<string, "span" | "log">;
};

const folder = new URL("../../fixtures/otlp/recorded/", import.meta.url);

export const recordings: [name: string, expected: Expected][] = Object.entries(
  JSON.parse(readFileSync(new URL("expected.json", folder), "utf8")),
);

export type Encoding = "json" | "protobuf";

/** The body of the request, decompressed. */
export function recordedBody(name: string, encoding: Encoding): Buffer {
  const extension = encoding === "json" ? "json" : "pb";
  return gunzipSync(readFileSync(new URL(`${name}.${extension}.gz`, folder)));
}

export function recordedBatches(name: string, encoding: Encoding = "protobuf"): Batch[] {
  const body = decodeBody(recordedBody(name, encoding), encoding, decodeLimits);
  if (body.path !== "otlp") throw new Error("The recording is not OTLP.");
  return body.groups.map(({ batch }) => batch);
}

export function recordedTraces(name: string, encoding?: Encoding): MergedTrace[] {
  return recordedBatches(name, encoding).map(batch => mergeBatches([batch], "otlp"));
}
