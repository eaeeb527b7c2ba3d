// Finding a trace's agent: no hint or service name reaches beyond the key.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { agentOfGroup, agentOfHint, type FindAgents } from "../../src/ingest/resolve-agent.ts";
import type { Agent } from "../../src/model/agent/agent.ts";
import { type AdmittedKey, allowsAgent } from "../../src/model/key.ts";
import { Refusal } from "../../src/model/refusal.ts";

const agentOf = (number: number, projectId: string): Agent => ({
  id: `0199a1b2-0000-7000-8000-00000000000${number}`,
  projectId,
  name: `Agent ${number}`,
  type: "workflow",
  otlpServiceName: `service-${number}`,
  conventions: [],
  conventionRules: [],
  content: "keep",
  contentForgetAfterSeconds: null,
  attributes: { deny: [], allow: null },
});
const agents = [agentOf(1, "own"), agentOf(2, "own"), agentOf(3, "own"), agentOf(4, "other")];

const deps: FindAgents = {
  // As in the database: of whichever project.
  findAgent: async id => agents.find(agent => agent.id === id),
  findAgentByServiceName: async (projectId, name) =>
    agents.find(agent => agent.projectId === projectId && agent.otlpServiceName === name),
  listAgentsOfKey: async key =>
    agents.filter(({ id, projectId }) => projectId === "own" && allowsAgent(key, id)),
};

const keys = fc
  .record({
    access: fc.constantFrom("full" as const, "granular" as const),
    agentIds: fc.uniqueArray(fc.constantFrom(...agents.slice(0, 3).map(agent => agent.id))),
  })
  .map(
    ({ access, agentIds }): AdmittedKey => ({
      id: "key",
      projectId: "own",
      accountId: "account",
      access,
      agentIds: access === "full" ? [] : agentIds,
      emailVerified: true,
      conventions: null,
      hasMoreConventions: false,
      privacyRevision: 0,
      storing: null,
      rateLimits: { key: null, project: null },
    }),
  );
const values = fc.oneof(
  fc.constantFrom(...agents.flatMap(({ id }) => [id, id.toUpperCase()])),
  fc.uuid(),
  fc.string(),
  fc.jsonValue().filter(value => value !== null),
);
const hints = fc.option(fc.record({ value: values, field: fc.constant("platformId") }));

test("a canonical trace goes to an agent of the key's project that the key allows, or to none", async () => {
  await fc.assert(
    fc.asyncProperty(keys, hints, async (key, hint) => {
      const found = await agentOfHint(deps, key, hint).catch((error: unknown) => error);
      const named = typeof hint?.value === "string" ? hint.value.toLowerCase() : null;
      const asked = agents.find(({ id }) => id === named);
      if (typeof found === "string") {
        assert.ok(allowsAgent(key, found));
        assert.equal(agents.find(agent => agent.id === found)?.projectId, "own");
        assert.ok(asked === undefined || asked.id === found);
        return;
      }
      assert.ok(found instanceof Refusal && found.code === "CUSTOM_API_PLATFORM_NOT_FOUND");
      const visible = agents.filter(({ id, projectId }) => projectId === "own" && allowsAgent(key, id));
      assert.ok(asked === undefined || !visible.includes(asked));
      const told = found.hint?.match(/[0-9a-f-]{36}/g) ?? [];
      assert.deepEqual(
        told,
        visible.map(agent => agent.id),
      );
    }),
  );
});

test("the refusal does not say “several agents” if the key has one agent or none", async () => {
  for (const found of [agents.slice(0, 1), []]) {
    const key = {
      id: "key",
      projectId: "own",
      accountId: "account",
      access: "full",
      emailVerified: true,
      conventions: null,
      hasMoreConventions: false,
      privacyRevision: 0,
      storing: null,
      rateLimits: { key: null, project: null },
    } as const;
    const only = { ...deps, listAgentsOfKey: async () => found };
    await assert.rejects(
      agentOfHint(only, { ...key, agentIds: [] }, null),
      (error: Error) => /names no agent/.test(error.message) && !/several/.test(error.message),
    );
  }
});

test("an OTLP group goes to the agent with its service name if the key allows that agent, and to none otherwise", async () => {
  const names = fc.oneof(fc.constantFrom(...agents.map(agent => agent.otlpServiceName!)), fc.string());
  await fc.assert(
    fc.asyncProperty(keys, names, async (key, name) => {
      const found = await agentOfGroup(deps, key, name).catch((error: unknown) => error);
      const named = agents.find(agent => agent.projectId === "own" && agent.otlpServiceName === name);
      if (named && allowsAgent(key, named.id)) assert.equal(found, named.id);
      else {
        assert.ok(found instanceof Refusal);
        assert.equal(found.code, named ? "OTLP_PLATFORM_NOT_ALLOWED" : "OTLP_PLATFORM_NOT_FOUND");
        assert.equal(
          agents.some(({ id }) => `${found.message} ${found.hint}`.includes(id)),
          false,
        );
      }
    }),
  );
});
