// A trace's conversation over HTTP, from both paths and all its batches.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Turn } from "../../../src/model/trace/shown.ts";
import { canonicalBody, canonicalSpan, exportedSpan, exportOf, newTraceId } from "../../support/bodies.ts";
import type { Sent } from "../../support/send.ts";
import { world } from "../../support/world.ts";

const service = world({ roles: ["http"] });

async function store(sent: Sent): Promise<string> {
  const answer = await service.send(sent);
  assert.ok(answer.status < 300, answer.bytes.toString());
  return String(answer.headers["x-svc-trace-id"]);
}

const said = (role: string, content: string) => ({ role, parts: [{ type: "text", content }] });

const firstText = (turn: Turn) => turn.kind === "message" && (turn.pieces[0] as { text: string }).text;

test("messages are returned in order, each with the span and attribute that contains it", async () => {
  const attributes = {
    "gen_ai.input.messages": [said("user", "Where is my order?")],
    "gen_ai.output.messages": [said("assistant", "On its way.")],
  };
  const id = await store({
    body: canonicalBody(service.agentId, { spans: [canonicalSpan({ attributes })] }),
  });
  const body = await service.read(`/api/traces/${id}/conversation`);
  assert.deepEqual(body, {
    traceId: id,
    revision: 1,
    omitted: null,
    complete: true,
    turns: [
      ["user", "Where is my order?", "gen_ai.input.messages"],
      ["assistant", "On its way.", "gen_ai.output.messages"],
    ].map(([role, text, attribute]) => ({
      spanId: "root",
      attribute,
      event: null,
      agent: null,
      translated: null,
      kind: "message",
      role,
      pieces: [
        {
          kind: "text",
          text,
          length: text!.length,
          spanId: "root",
          paths: [["attributes", attribute, 0, "parts", 0, "content"]],
        },
      ],
    })),
  });
});

test("a later batch joins the conversation, and messages that it repeats appear once", async () => {
  const traceId = newTraceId();
  const chat = (at: number, texts: string[]) =>
    exportedSpan({
      traceId,
      startTimeUnixNano: `176370000000000000${at}`,
      endTimeUnixNano: `176370000000000000${at}`,
      attributes: [
        {
          key: "gen_ai.input.messages",
          value: { stringValue: JSON.stringify(texts.map(text => said("user", text))) },
        },
      ],
    });
  const id = await store({ body: exportOf([chat(1, ["one"])]) });
  await store({ body: exportOf([chat(2, ["one", "two"])]) });
  const body = await service.read(`/api/traces/${id}/conversation`);
  assert.deepEqual(body.turns.map(firstText), ["one", "two"]);
  assert.equal(body.revision, 2);
});

test("a trace without messages has no turns", async () => {
  const id = await store({ body: canonicalBody(service.agentId) });
  const body = await service.read(`/api/traces/${id}/conversation`);
  assert.deepEqual(body.turns, []);
});

test("texts that no database or encoding accepts are returned exactly as they were sent", async () => {
  const text = "a\u0000\ud800\u202e<b>";
  const attributes = { "gen_ai.prompt": text };
  const id = await store({
    body: canonicalBody(service.agentId, { spans: [canonicalSpan({ attributes })] }),
  });
  const body = await service.read(`/api/traces/${id}/conversation`);
  assert.equal(firstText(body.turns[0]!), text);
});
