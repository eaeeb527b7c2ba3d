// Creating, renaming and deleting projects; how long they keep traces, and how many requests they may send.
import type { Retention } from "../../src/http/projects/retention-schemas.ts";
import type { Project, RateLimit } from "../../src/http/projects/schemas.ts";
import { type Answer, ask, remove } from "../api.ts";

export const createProject = (name: string): Promise<Answer<Project>> =>
  ask("POST", "/api/projects", { body: { name } });

export const renameProject = (id: string, name: string): Promise<Answer<Project>> =>
  ask("PATCH", `/api/projects/${id}`, { body: { name } });

export const deleteProject = (id: string) => remove(`/api/projects/${id}`);

/** `days` null: traces are kept. */
export const saveRetention = (id: string, days: number | null): Promise<Answer<Retention>> =>
  ask("PUT", `/api/projects/${id}/retention`, { body: { days } });

/** `requestsPerMinute` null: no limit. */
export const saveRateLimit = (id: string, requestsPerMinute: number | null): Promise<Answer<RateLimit>> =>
  ask("PUT", `/api/projects/${id}/rate-limit`, { body: { requestsPerMinute } });
