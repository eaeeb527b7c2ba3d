// Makes test data for store tests of traces and runs: an agent with a key and a test, and batches ready to be stored.

import { prepareBody } from "../../../src/ingest/prepare.ts";
import { prepareLogs } from "../../../src/ingest/prepare-logs.ts";
import type { PreparedBatch } from "../../../src/ingest/prepared.ts";
import { hashKey, makeKey } from "../../../src/model/key.ts";
import type { TestCase } from "../../../src/model/test-case/document.ts";
import { parseTestCase } from "../../../src/model/test-case/test-case.ts";
import { insertKey } from "../../../src/store/accounts/keys.ts";
import type { Database, OpenDatabase } from "../../../src/store/db.ts";
import { newId } from "../../../src/store/new-id.ts";
import { insertTestCase, type RunnableTest } from "../../../src/store/test-cases.ts";
import type { RecordsWrite } from "../../../src/store/traces/waiting-records.ts";
import type { TraceWrite } from "../../../src/store/traces/write.ts";
import { TraceWriter, type WriterOptions } from "../../../src/store/traces/writer.ts";
import { decodeLimits } from "../../../src/wire/limits.ts";
import { logsOf, questionRecord } from "../../support/log-records.ts";
import { freshDatabase, openFresh } from "../../support/postgres.ts";
import { makeAgentRow, makeProject } from "../../support/rows.ts";

export const limits: WriterOptions = {
  debounceMs: 5_000,
  debounceCapMs: 60_000,
  traceSpansMax: 200_000,
  traceBytesMax: 268_435_456,
};

/** A database with two pools, as two processes have them. */
export async function openTwice(): Promise<{
  url: string;
  db: OpenDatabase;
  other: OpenDatabase;
  close(): Promise<void>;
}> {
  const database = await freshDatabase();
  const [db, other] = [openFresh(database.url), openFresh(database.url)];
  return {
    url: database.url,
    db,
    other,
    async close() {
      await Promise.all([db.close(), other.close()]);
      await database.drop();
    },
  };
}

export type Sender = { projectId: string; agentId: string; keyId: string };

/** An agent in its own project, with a Full Access key. With `judged`, it has a test that always runs. */
export async function makeSender(db: Database, { judged = true } = {}): Promise<Sender> {
  const projectId = await makeProject(db);
  const agentId = await makeAgentRow(db, { projectId });
  const { id: keyId } = await insertKey(db, {
    projectId,
    name: "sender",
    hash: hashKey(makeKey()),
    lastFour: "abcd",
    access: "full",
    agentIds: [],
    expiresAt: null,
    createdBy: null,
  });
  if (judged) await makeTestCase(db, agentId);
  return { projectId, agentId, keyId };
}

export function makeTestCase(db: Database, agentId: string, fields: object = {}) {
  const document = parseTestCase({
    name: "Answers",
    passiveBehavior: "always_run",
    turns: [{ input: "Hello" }],
    assertions: [{ type: "response_regex", pattern: "." }],
    ...fields,
  });
  return insertTestCase(db, agentId, document);
}

/** Stored tests as a launch takes them. */
export function runnable(tests: TestCase[]): RunnableTest[] {
  return tests.map(test => ({ ...test, inputCount: test.inputs?.length ?? 0, inputBytes: 0 }));
}

type Sent = {
  externalId?: string;
  spans?: string[];
  text?: string;
  /** OTLP: the parent of every span. */
  parent?: string;
  /** Canonical: of every span, beside its response. */
  attributes?: Record<string, unknown>;
};

/** An OTLP batch of spans, each named by one or more hexadecimal digits; `text` is each one's response. */
export function otlpWrite(
  sender: Sender,
  { externalId, spans = ["a"], text = "", parent }: Sent = {},
): TraceWrite {
  const traceId = "0af7651916cd43dd8448eb211c80319c";
  const attributes = [
    { key: "service.name", value: { stringValue: "agent" } },
    { key: "gen_ai.response.text", value: { stringValue: text } },
  ];
  const body = {
    resourceSpans: [
      {
        resource: { attributes: attributes.slice(0, 1) },
        scopeSpans: [
          {
            spans: spans.map(id => ({
              traceId,
              spanId: otlpId(id),
              ...(parent !== undefined && { parentSpanId: parent }),
              name: id,
              attributes: attributes.slice(1),
            })),
          },
        ],
      },
    ],
  };
  const prepared = prepareBody(Buffer.from(JSON.stringify(body)), "json", decodeLimits);
  const [group] = prepared.path === "otlp" ? prepared.groups : [];
  if (!group || !("batch" in group)) throw new Error("The batch is refused.");
  return write(sender, "otlp", group.batch, externalId);
}

/** The same on the canonical path; `text` is the response of every span. */
export function canonicalWrite(
  sender: Sender,
  { externalId, spans = ["a"], text = "", attributes = {} }: Sent = {},
): TraceWrite {
  const body = {
    spans: spans.map(id => ({
      span_id: id,
      name: id,
      attributes: { "gen_ai.response.text": text, ...attributes },
    })),
  };
  const prepared = prepareBody(Buffer.from(JSON.stringify(body)), "json", decodeLimits);
  if (prepared.path !== "canonical") throw new Error("The trace is not canonical.");
  return write(sender, "canonical", prepared.batch, externalId);
}

/** The span id that `otlpWrite` makes from a short one. */
export function otlpId(id: string): string {
  return id.padStart(16, "0");
}

function write(
  { agentId, keyId }: Sender,
  path: TraceWrite["path"],
  { spanCount, spanKeys, bytes, rawLength, columns }: PreparedBatch,
  externalId: string = newId(),
): TraceWrite {
  return {
    traceId: newId(),
    runId: newId(),
    keyId,
    agentId,
    externalId,
    path,
    spanCount,
    spanKeys,
    bytes,
    rawLength,
    columns,
  };
}

/** A trace whose run is due now, and the ids of both. */
export async function storeDueRun(
  db: Database,
  sender: Sender,
  sent: Sent = {},
): Promise<{ traceId: string; runId: string }> {
  const made = canonicalWrite(sender, sent);
  await new TraceWriter(db, limits).write(made);
  return { traceId: made.traceId, runId: made.runId };
}

/** Questions about a span that is named as in `otlpWrite`, in log records. */
export function questions(sender: Sender, traceId: string, span: string, ...texts: string[]): RecordsWrite[] {
  const about = { traceId, spanId: otlpId(span) };
  const body = Buffer.from(
    JSON.stringify(
      logsOf(
        texts.map(text => questionRecord(about, text)),
        "agent",
      ),
    ),
  );
  const readers = {
    agents: [{ agentId: sender.agentId, serviceName: "agent", conventions: ["*"], conventionRules: [] }],
    only: null,
  };
  return prepareLogs(body, "json", decodeLimits, readers).flatMap(service =>
    service.spans.map(({ traceId: otlpTraceId, ...one }) => ({ ...one, ...sender, otlpTraceId })),
  );
}
