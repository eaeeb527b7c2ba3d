// Agents that forget content, and time that passes for what they have stored.

import assert from "node:assert/strict";
import { placeOf } from "../../src/store/cluster/routing.ts";
import { findForgettingSettings } from "../../src/store/content/settings.ts";
import type { Database } from "../../src/store/db.ts";
import type { Vault } from "../../src/store/secrets/vault.ts";
import { makeAgent } from "./app.ts";
import { canonicalSpan } from "./bodies.ts";
import type { Client } from "./client.ts";
import { eventually } from "./eventually.ts";
import { jsonOf, send } from "./send.ts";
import type { TestService } from "./service.ts";

/** A trace with the text in every field that may have content. */
export function bodyWith(agentId: string, text: string, name = "look up"): object {
  return {
    platformId: agentId,
    metadata: { note: text, [text]: 1 },
    spans: [
      canonicalSpan({
        start_time_unix_nano: "1000000000",
        end_time_unix_nano: "3000000000",
        status: { code: 2, message: text },
        events: [{ name: text, attributes: { text } }],
        attributes: {
          "gen_ai.request.model": "gpt-5.4",
          "gen_ai.provider.name": "openai",
          "gen_ai.input.messages": [
            { role: "user", parts: [{ type: "text", content: `Where is ${text}?` }] },
          ],
          "gen_ai.response.text": `It is in ${text}, and arrives on Tuesday.`,
          "gen_ai.usage.input_tokens": 1200,
          "gen_ai.usage.output_tokens": 30,
          "gen_ai.conversation.id": "c-1",
          "user.id": "u-1",
          "http.response.status_code": 200,
          "app.note": text,
          [text]: true,
        },
      }),
      canonicalSpan({
        span_id: "tool",
        parent_span_id: "root",
        name,
        attributes: { "gen_ai.tool.name": "lookup", "gen_ai.tool.call.arguments": { id: text } },
      }),
    ],
  };
}

/** As if everything of the agent had been stored, and its evaluations had ended, this much earlier. */
export async function pass(db: Database, agentId: string, seconds: number): Promise<void> {
  const { pool } = await placeOf(db, agentId);
  const ago = "interval '1 s' * $2::int";
  const values = [agentId, seconds];
  await pool.query(`update traces set updated_at = updated_at - ${ago} where agent_id = $1`, values);
  await pool.query(`update runs set finished_at = finished_at - ${ago} where agent_id = $1`, values);
  await pool.query(`update content_deadlines set check_at = check_at - ${ago} where agent_id = $1`, values);
}

/** As the background job gives it to the thread that forgets. */
export async function dueOf(db: Database, agentId: string, traceIds: string[]) {
  const noVault = { open: () => undefined } as unknown as Vault;
  return { traceIds, runIds: [], settings: await findForgettingSettings(db, noVault, [agentId]) };
}

let agents = 0;

export function forgettingOf(service: TestService) {
  const read: Client["read"] = path => service.client.read(path);
  const stored = async (traceId: string): Promise<string | null> =>
    (await service.db.pool.query("select content from traces where id = $1", [traceId])).rows[0].content;
  return {
    read,
    /** The column `content` of the trace. */
    stored,

    /** An agent that forgets after an hour. */
    async forgetful(more: object = {}) {
      const agent = await makeAgent(service.owner, { otlpServiceName: `forgetful-${++agents}` });
      const forget = { content: "forget", contentForgetAfterSeconds: 3_600 };
      await service.client.patch(`/api/agents/${agent.id}`, { ...forget, ...more }).expect(200);
      return agent;
    },

    async receive(agentId: string, text: string): Promise<string> {
      return (await jsonOf(await send(service, { body: bodyWith(agentId, text) }))).traceId as string;
    },

    async judged(traceId: string) {
      return eventually(async () => {
        const trace = await read(`/api/traces/${traceId}`);
        assert.deepEqual(
          trace.runs.map(run => run.state),
          ["completed"],
        );
        return trace;
      });
    },

    async forgotten(traceId: string) {
      await eventually(async () => assert.equal(await stored(traceId), "forgotten"));
      return read(`/api/traces/${traceId}`);
    },
  };
}
