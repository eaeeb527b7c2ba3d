// /api/agents/:id/trace-views: saved views of an agent's list of traces.
import { z } from "zod";
import { deleteView, listViews, saveView, viewsMax } from "../../store/traces/views.ts";
import type { App, Deps } from "../deps.ts";
import { SavedView, SavedViews, ViewToSave } from "./view-schemas.ts";

export function registerTraceViews(app: App, { db }: Deps): void {
  const schema = { tags: ["traces"], params: z.object({ id: z.string() }) };

  app.get(
    "/api/agents/:id/trace-views",
    {
      schema: {
        ...schema,
        summary: "List the saved views of the list of traces, by name",
        response: { 200: SavedViews },
      },
    },
    async ({ params: { id } }) => ({ items: await listViews(db, id) }),
  );

  app.post(
    "/api/agents/:id/trace-views",
    {
      schema: {
        ...schema,
        summary: `Save a view, or change the filters of the one with this name; an agent has at most ${viewsMax}`,
        body: ViewToSave,
        response: { 200: SavedView },
      },
    },
    async ({ params: { id: agentId }, body }) => saveView(db, { agentId, ...body }),
  );

  app.delete(
    "/api/trace-views/:id",
    { schema: { ...schema, summary: "Delete a saved view", response: { 204: z.undefined() } } },
    async ({ params: { id } }, reply) => {
      await deleteView(db, id);
      return reply.code(204).send();
    },
  );
}
