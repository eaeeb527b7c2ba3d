// /api/agents/:id/connection: how manual runs call the agent, and a test message.

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
import type { App, Deps } from "../frame/deps.ts";
import { found } from "../frame/page.ts";
import { limitTrials } from "../frame/rate-limit.ts";
import { routesOf, untilClosed } from "../frame/route.ts";
import { requireVerified } from "../frame/signed-in.ts";
import { AgentTrial, AgentConnection as ConnectionAnswer } from "./schemas.ts";

export type ConnectionDeps = {
  vault: Vault;
  outbound: Pick<Outbound, "fetch">;
};

const { $schema: _, ...description } = z.toJSONSchema(connectionInputSchema, {
  io: "input",
  override({ jsonSchema }) {
    // Absent, it is the agent's.
    if (jsonSchema.properties?.["type"])
      jsonSchema.required = jsonSchema.required!.filter(name => name !== "type");
  },
});
const ConnectionBody = z.unknown().meta(description);

export function registerAgentConnections(
  app: App,
  { db, machine, vault, outbound }: Deps & ConnectionDeps,
): void {
  const route = routesOf(app, "agents");
  const busy = "A test message is already being sent. Wait for its reply.";
  const trials = limitTrials({ db, machine }, { kind: "test messages", busy });

  route("GET /api/agents/:id/connection", {
    access: "tokens",
    summary: "Get the agent connection (secrets omitted)",
    answer: ConnectionAnswer,
    handler: async ({ id }) => viewOf(found(await findAgent(db, id)), await findConnection(db, vault, id)),
  });

  route("PUT /api/agents/:id/connection", {
    access: "session",
    summary: "Set the agent connection; a secret header without a value keeps the stored value",
    body: ConnectionBody,
    answer: ConnectionAnswer,
    handler: async ({ id, body }) => {
      const saved = await saveConnection(db, vault, id, (type, current) =>
        parseConnection(body, type, current),
      );
      const stored = found(saved);
      return viewOf(stored.connection, stored);
    },
  });

  route("DELETE /api/agents/:id/connection", {
    access: "session",
    summary: "Delete the agent connection",
    handler: ({ id }) => deleteConnection(db, id),
  });

  route("POST /api/agents/:id/connection/test", {
    access: "session",
    waits: true,
    summary: "Send the agent a test message, using the stored connection or an unsaved one",
    body: z.object({
      input: z.string().min(1).max(100_000),
      connection: ConnectionBody.optional(),
    }),
    answer: AgentTrial,
    handler: async ({ id, body, account, reply }) => {
      requireVerified(account, "Agents can be called");
      const { input, connection: draft } = body;
      const agent = found(await findAgent(db, id));
      const connection =
        draft === undefined
          ? await requireConnection(db, vault, id)
          : parseConnection(draft, agent.type, await findConnection(db, vault, id));
      return trials(account.id, () => tryOut(outbound, connection, input, untilClosed(reply)));
    },
  });
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
): Promise<AgentTrial> {
  const requestId = `test-${randomUUID()}`;
  // Not sampled: a connection test is not live traffic.
  const traceparent = `00-${randomBytes(16).toString("hex")}-${randomBytes(8).toString("hex")}-00`;
  const turn = { input, history: [], conversationId: requestId, requestId, traceparent };
  const { status, ms, text, contentType, error } = await callAgent(outbound, connection, turn, gone);
  const [code, reason] = [error?.code ?? null, error?.reason ?? null];
  return { ok: error === null, status, ms, text, contentType, requestId, code, reason };
}
