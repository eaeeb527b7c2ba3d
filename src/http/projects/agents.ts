// /api/agents: the agents of a project and their OTLP service names.

import { z } from "zod";
import { ruleTargets } from "../../model/agent/read-by.ts";
import { presets } from "../../reading/presets.ts";
import { deleteAgent, findAgent, insertAgent, listAgents, updateAgent } from "../../store/accounts/agents.ts";
import { findRereading } from "../../store/accounts/rereading.ts";
import { ConventionRules, Conventions } from "../conventions.ts";
import type { App, Deps } from "../deps.ts";
import { found, listingOf, PageQuery, pageOf } from "../page.ts";
import { ExactName, Name, pageSchema } from "../schemas.ts";
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
  const tags = ["agents"];
  const params = z.object({ id: z.string() });

  app.get(
    "/api/projects/:id/agents",
    {
      schema: {
        tags,
        summary: "List agents",
        params,
        querystring: PageQuery,
        response: { 200: pageSchema(Agent) },
      },
    },
    async ({ params, query }) => pageOf(await listAgents(db, params.id, listingOf(query)), query),
  );

  app.post(
    "/api/projects/:id/agents",
    {
      config: { creates: "agents" },
      schema: { tags, summary: "Create an agent", params, body: NewAgent, response: { 201: Agent } },
    },
    async (request, reply) =>
      reply.code(201).send(await insertAgent(db, { projectId: request.params.id, ...request.body })),
  );

  app.get(
    "/api/agents/:id",
    { schema: { tags, summary: "Get an agent", params, response: { 200: Agent } } },
    async request => found(await findAgent(db, request.params.id)),
  );

  app.patch(
    "/api/agents/:id",
    { schema: { tags, summary: "Update an agent", params, body: AgentChange, response: { 200: Agent } } },
    async request => found(await updateAgent(db, request.params.id, request.body)),
  );

  app.get(
    "/api/agents/:id/conventions",
    {
      schema: {
        tags,
        summary: "List the conventions that an agent's traces can be read by, and how far a change has come",
        params,
        response: { 200: AgentConventions },
      },
    },
    async ({ params: { id } }) => ({
      conventions: presets.map(({ name, title, writes }) => ({ name, title, writes })),
      ruleTargets: [...ruleTargets],
      rereading: await findRereading(db, id),
    }),
  );

  app.delete(
    "/api/agents/:id",
    {
      schema: {
        tags,
        summary: "Delete an agent and its test cases and traces",
        params,
        response: { 204: z.undefined() },
      },
    },
    async (request, reply) => {
      await deleteAgent(db, request.params.id);
      return reply.code(204).send();
    },
  );
}
