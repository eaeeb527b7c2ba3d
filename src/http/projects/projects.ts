// /api/projects: the account's projects.

import { z } from "zod";
import {
  createFirstProject,
  deleteProject,
  findProject,
  insertProject,
  listProjects,
  renameProject,
} from "../../store/accounts/projects.ts";
import type { App, Deps } from "../frame/deps.ts";
import { found, listingOf, PageQuery, pageOf } from "../frame/page.ts";
import { routesOf } from "../frame/route.ts";
import { Name, pageSchema } from "../frame/schemas.ts";
import { Project } from "./schemas.ts";

const Body = z.object({ name: Name });

export function registerProjects(app: App, { db }: Deps): void {
  const route = routesOf(app, "projects");

  route("GET /api/projects", {
    access: "all tokens",
    summary: "List projects",
    query: PageQuery,
    answer: pageSchema(Project),
    handler: async ({ query, account }) => {
      await createFirstProject(db, account.id);
      return pageOf(await listProjects(db, account.id, listingOf(query)), query);
    },
  });

  route("POST /api/projects", {
    access: "session",
    creates: "projects",
    summary: "Create a project",
    body: Body,
    status: 201,
    answer: Project,
    handler: ({ body, account }) => insertProject(db, account.id, body.name),
  });

  route("GET /api/projects/:id", {
    access: "all tokens",
    summary: "Get a project",
    answer: Project,
    handler: async ({ id }) => found(await findProject(db, id)),
  });

  route("PATCH /api/projects/:id", {
    access: "session",
    summary: "Rename a project",
    body: Body,
    answer: Project,
    handler: async ({ id, body }) => found(await renameProject(db, id, body.name)),
  });

  route("DELETE /api/projects/:id", {
    access: "session",
    summary: "Delete a project and its agents, keys, test cases and traces",
    handler: ({ id }) => deleteProject(db, id),
  });
}
