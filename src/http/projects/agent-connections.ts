// How an agent is called in manual runs, and a message to try it with.
import { randomBytes, randomUUID } from "node:crypto";
import { z } from "zod";
import type { Agent } from "../../model/agent/agent.ts";
import {
  type AgentConnection,
  connectionInputSchema,
  connectionView,
  parseConnection,
  type StoredConnection,
} from "../../model/agent/connection.ts";
import { callAgent } from "../../remote/agent/call.ts";
import type { Outbound } from "../../remote/outbound.ts";
import { findAgent } from "../../store/accounts/agents.ts";
import {
  deleteConnection,
  findConnection,
  requireConnection,
  saveConnection,
} from "../../store/runs/agent-connections.ts";
import type { Vault } from "../../store/secrets/vault.ts";
import type { App, Deps } from "../deps.ts";
import { found } from "../page.ts";
import { limitTrials } from "../rate-limit.ts";
import { requireVerified } from "../session.ts";

export type ConnectionDeps = {
  vault: Vault;
  outbound: Pick<Outbound, "fetch">;
  /** Milliseconds, always forward. */
  now?: () => number;
};

const { $schema: _, ...description } = z.toJSONSchema(connectionInputSchema, { io: "input" });
const ConnectionBody = z.unknown().meta(description);

const Stored = z
  .object({
    type: z.enum(["http_api", "workflow", "flow_builder"]).describe("The agent's."),
    connection: z
      .looseObject({
        type: z.string(),
        headers: z.array(
          z.object({
            name: z.string(),
            value: z.string().optional(),
            secret: z.literal(true).optional(),
            set: z.boolean().optional().describe("Of a secret: whether it can be read."),
          }),
        ),
        waitMs: z.number().int(),
        concurrency: z.number().int(),
      })
      .nullable()
      .describe("Null: none was made for the type that the agent has."),
    updatedAt: z.string().nullable(),
  })
  .meta({ id: "AgentConnection" });

const Trial = z
  .object({
    ok: z.boolean().describe("Whether a text came back."),
    status: z.number().int().nullable(),
    ms: z.number().int(),
    text: z.string().nullable(),
    contentType: z.string().nullable(),
    requestId: z.string().describe("Sent as x-request-id."),
    code: z.string().nullable().describe("What went wrong."),
    reason: z.string().nullable().describe("The same in one sentence."),
  })
  .meta({ id: "AgentTrial" });

export function registerAgentConnections(
  app: App,
  { db, vault, outbound, now }: Deps & ConnectionDeps,
): void {
  const schema = { tags: ["agents"], params: z.object({ id: z.string() }) };
  const trials = limitTrials({ busy: "A message is being sent already; wait for its reply.", now });

  app.get(
    "/api/agents/:id/connection",
    {
      schema: {
        ...schema,
        summary: "How the agent is called; secrets are never told",
        response: { 200: Stored },
      },
    },
    async ({ params: { id } }) => viewOf(found(await findAgent(db, id)), await findConnection(db, vault, id)),
  );

  app.put(
    "/api/agents/:id/connection",
    {
      schema: {
        ...schema,
        summary: "Say how the agent is called; a secret header without a value keeps the one it has",
        body: ConnectionBody,
        response: { 200: Stored },
      },
    },
    async ({ params: { id }, body }) => {
      const saved = await saveConnection(db, vault, id, (type, current) =>
        parseConnection(body, type, current),
      );
      const stored = found(saved);
      return viewOf(stored.connection, stored);
    },
  );

  app.delete(
    "/api/agents/:id/connection",
    { schema: { ...schema, summary: "Forget how the agent is called", response: { 204: z.undefined() } } },
    async (request, reply) => {
      await deleteConnection(db, request.params.id);
      return reply.code(204).send();
    },
  );

  app.post(
    "/api/agents/:id/connection/test",
    {
      schema: {
        ...schema,
        summary: "Send the agent one message, by the stored connection or by one that is not saved yet",
        body: z.object({
          input: z.string().min(1).max(100_000),
          connection: ConnectionBody.optional(),
        }),
        response: { 200: Trial },
      },
    },
    async (request, reply) => {
      const account = requireVerified(request, "Agents are called");
      const { id } = request.params;
      const { input, connection: draft } = request.body;
      const agent = found(await findAgent(db, id));
      const connection =
        draft === undefined
          ? await requireConnection(db, vault, id)
          : parseConnection(draft, agent.type, await findConnection(db, vault, id));
      const gone = new AbortController();
      reply.raw.once("close", () => gone.abort());
      return trials(account.id, () => tryOut(outbound, connection, input, gone.signal));
    },
  );
}

function viewOf({ type }: Pick<Agent, "type">, stored: StoredConnection | undefined) {
  return {
    type,
    connection: stored ? connectionView(stored) : null,
    updatedAt: stored?.updatedAt.toISOString() ?? null,
  };
}

async function tryOut(
  outbound: ConnectionDeps["outbound"],
  connection: AgentConnection,
  input: string,
  gone: AbortSignal,
): Promise<z.output<typeof Trial>> {
  const requestId = `test-${randomUUID()}`;
  // Not sampled: a message that only tries the connection is nobody's conversation.
  const traceparent = `00-${randomBytes(16).toString("hex")}-${randomBytes(8).toString("hex")}-00`;
  const turn = { input, history: [], conversationId: requestId, requestId, traceparent };
  const { status, ms, text, contentType, error } = await callAgent(outbound, connection, turn, gone);
  const [code, reason] = [error?.code ?? null, error?.reason ?? null];
  return { ok: error === null, status, ms, text, contentType, requestId, code, reason };
}
