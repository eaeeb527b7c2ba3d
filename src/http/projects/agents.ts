// Agents of a project, and the service name each bears (G4).
import { z } from "zod";
import { deleteAgent, findAgent, insertAgent, listAgents, updateAgent } from "../../store/accounts/agents.ts";
import type { App, Deps } from "../deps.ts";
import { found, listingOf, PageQuery, pageOf, pageSchema } from "../page.ts";
import { ExactName, Id, Name } from "../validate.ts";

const Type = z.enum(["http_api", "workflow", "flow_builder"]);

const Agent = z
  .object({ id: Id, projectId: Id, name: z.string(), type: Type, otlpServiceName: z.string().nullable() })
  .meta({ id: "Agent" });

const NewAgent = z.object({
  name: Name,
  type: Type.default("http_api"),
  otlpServiceName: ExactName.nullable().default(null),
});

const AgentChange = z.object({
  name: Name.optional(),
  type: Type.optional(),
  otlpServiceName: ExactName.nullable().optional(),
});

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
    { schema: { tags, summary: "Make an agent", params, body: NewAgent, response: { 201: Agent } } },
    async (request, reply) =>
      reply.code(201).send(await insertAgent(db, { projectId: request.params.id, ...request.body })),
  );

  app.get(
    "/api/agents/:id",
    { schema: { tags, summary: "One agent", params, response: { 200: Agent } } },
    async request => found(await findAgent(db, request.params.id)),
  );

  app.patch(
    "/api/agents/:id",
    { schema: { tags, summary: "Change an agent", params, body: AgentChange, response: { 200: Agent } } },
    async request => found(await updateAgent(db, request.params.id, request.body)),
  );

  app.delete(
    "/api/agents/:id",
    {
      schema: {
        tags,
        summary: "Delete an agent with its test cases and traces",
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
