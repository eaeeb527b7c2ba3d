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
import type { App, Deps } from "../deps.ts";
import { found, listingOf, PageQuery, pageOf } from "../page.ts";
import { Name, pageSchema } from "../schemas.ts";
import { requireAccount } from "../signed-in.ts";
import { Project } from "./schemas.ts";

const Body = z.object({ name: Name });

export function registerProjects(app: App, { db }: Deps): void {
  const tags = ["projects"];
  const params = z.object({ id: z.string() });

  app.get(
    "/api/projects",
    {
      config: { erasureTokens: true },
      schema: {
        tags,
        summary: "List projects",
        querystring: PageQuery,
        response: { 200: pageSchema(Project) },
      },
    },
    async request => {
      const account = requireAccount(request);
      await createFirstProject(db, account.id);
      return pageOf(await listProjects(db, account.id, listingOf(request.query)), request.query);
    },
  );

  app.post(
    "/api/projects",
    {
      config: { creates: "projects" },
      schema: { tags, summary: "Create a project", body: Body, response: { 201: Project } },
    },
    async (request, reply) =>
      reply.code(201).send(await insertProject(db, requireAccount(request).id, request.body.name)),
  );

  app.get(
    "/api/projects/:id",
    {
      config: { erasureTokens: true },
      schema: { tags, summary: "Get a project", params, response: { 200: Project } },
    },
    async request => found(await findProject(db, request.params.id)),
  );

  app.patch(
    "/api/projects/:id",
    { schema: { tags, summary: "Rename a project", params, body: Body, response: { 200: Project } } },
    async request => found(await renameProject(db, request.params.id, request.body.name)),
  );

  app.delete(
    "/api/projects/:id",
    {
      schema: {
        tags,
        summary: "Delete a project and its agents, keys, test cases and traces",
        params,
        response: { 204: z.undefined() },
      },
    },
    async (request, reply) => {
      await deleteProject(db, request.params.id);
      return reply.code(204).send();
    },
  );
}
