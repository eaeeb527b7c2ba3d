// Which refusal a canonical trace without a hint gets. What each kind of key accepts is tested over HTTP.
import assert from "node:assert/strict";
import { test } from "node:test";
import { agentOfHint, type FindAgents } from "../../src/ingest/resolve-agent.ts";
import type { Agent } from "../../src/model/agent/agent.ts";
import type { AdmittedKey } from "../../src/model/key.ts";

const never = async () => undefined;
const key = { access: "full", agentIds: [] as string[], projectId: "own" } as AdmittedKey;

test("the refusal does not say “several agents” if the key has one agent or none", async () => {
  for (const found of [[{ id: "a", name: "Agent" } as Agent], []]) {
    const deps: FindAgents = {
      findAgent: never,
      findAgentByServiceName: never,
      listAgentsOfKey: async () => found,
    };
    await assert.rejects(
      agentOfHint(deps, key, null),
      (error: Error) => /names no agent/.test(error.message) && !/several/.test(error.message),
    );
  }
});
