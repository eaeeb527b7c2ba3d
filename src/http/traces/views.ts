// /api/agents/:id/trace-views: saved views of an agent's list of traces.
import { deleteView, listViews, saveView, viewsMax } from "../../store/trace-lists/views.ts";
import type { App, Deps } from "../frame/deps.ts";
import { routesOf } from "../frame/route.ts";
import { SavedView, SavedViews, ViewToSave } from "./view-schemas.ts";

export function registerTraceViews(app: App, { db }: Deps): void {
  const route = routesOf(app, "traces");

  route("GET /api/agents/:id/trace-views", {
    access: "tokens",
    summary: "List the saved views of the list of traces, by name",
    answer: SavedViews,
    handler: async ({ id }) => ({ items: await listViews(db, id) }),
  });

  route("POST /api/agents/:id/trace-views", {
    access: "session",
    summary: `Save a view, or change the filters of the one with this name; an agent has at most ${viewsMax}`,
    body: ViewToSave,
    answer: SavedView,
    handler: async ({ id: agentId, body }) => saveView(db, { agentId, ...body }),
  });

  route("DELETE /api/trace-views/:id", {
    access: "session",
    summary: "Delete a saved view",
    handler: ({ id }) => deleteView(db, id),
  });
}
