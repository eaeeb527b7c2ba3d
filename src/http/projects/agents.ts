// /api/agents: the agents of a project and their OTLP service names.

import { z } from "zod";
import { ruleTargets } from "../../model/agent/read-by.ts";
import { presets } from "../../reading/presets.ts";
import { deleteAgent, findAgent, insertAgent, listAgents, updateAgent } from "../../store/accounts/agents.ts";
import { findRereading } from "../../store/accounts/rereading.ts";
import { ConventionRules, Conventions } from "../conventions.ts";
import type { App, Deps } from "../frame/deps.ts";
import { found, listingOf, PageQuery, pageOf } from "../frame/page.ts";
import { routesOf } from "../frame/route.ts";
import { ExactName, Name, pageSchema } from "../frame/schemas.ts";
import { changedIntake, intakeFields, newIntake } from "./intake.ts";
import { Agent, AgentConventions, AgentType, ReadFrom } from "./schemas.ts";

// Strict, as keys are: where a privacy setting is misspelled, content must not be stored in spite of it.
const NewAgent = z
  .strictObject({
    name: Name,
    type: AgentType.default("http_api"),
    otlpServiceName: ExactName.nullable().default(null),
    conventions: Conventions.optional(),
    conventionRules: ConventionRules.optional(),
    readFrom: ReadFrom.nullable().optional(),
    ...intakeFields,
  })
  .meta(newIntake);

/** Fields that responses add. */
const ignored = z
  .unknown()
  .optional()
  .meta({ readOnly: true, description: "Ignored; accepted so that a response can be sent back." });

const AgentChange = z
  .strictObject({
    id: ignored,
    projectId: ignored,
    name: Name.optional(),
    type: AgentType.optional(),
    otlpServiceName: ExactName.nullable().optional(),
    conventions: Conventions.optional().describe(
      "Counts for traces evaluated from now on; the latest 10,000 are derived again for lists. No run is scheduled.",
    ),
    conventionRules: ConventionRules.optional().describe(
      "Own rules, at most 50: attributes that are read as documented ones, before conventions. Replaces all; counts as a change of `conventions` does.",
    ),
    readFrom: ReadFrom.nullable()
      .optional()
      .describe("Counts as a change of `conventions` does; null: input and reply are read as usual."),
    ...intakeFields,
  })
  .meta(changedIntake);

export function registerAgents(app: App, { db }: Deps): void {
  const route = routesOf(app, "agents");

  route("GET /api/projects/:id/agents", {
    access: "tokens",
    summary: "List agents",
    query: PageQuery,
    answer: pageSchema(Agent),
    handler: async ({ id, query }) => pageOf(await listAgents(db, id, listingOf(query)), query),
  });

  route("POST /api/projects/:id/agents", {
    access: "session",
    creates: "agents",
    summary: "Create an agent",
    body: NewAgent,
    status: 201,
    answer: Agent,
    handler: ({ id, body }) => insertAgent(db, { projectId: id, ...body }),
  });

  route("GET /api/agents/:id", {
    access: "tokens",
    summary: "Get an agent",
    answer: Agent,
    handler: async ({ id }) => found(await findAgent(db, id)),
  });

  route("PATCH /api/agents/:id", {
    access: "session",
    summary: "Update an agent",
    body: AgentChange,
    answer: Agent,
    handler: async ({ id, body }) => found(await updateAgent(db, id, body)),
  });

  route("GET /api/agents/:id/conventions", {
    access: "tokens",
    summary: "List the conventions that an agent's traces can be read by, and how far a change has come",
    answer: AgentConventions,
    handler: async ({ id }) => ({
      conventions: presets.map(({ name, title, writes }) => ({ name, title, writes })),
      ruleTargets: [...ruleTargets],
      rereading: await findRereading(db, id),
    }),
  });

  route("DELETE /api/agents/:id", {
    access: "session",
    summary: "Delete an agent and its test cases and traces",
    handler: ({ id }) => deleteAgent(db, id),
  });
}
