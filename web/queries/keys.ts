// The keys of a project.
import type { Key } from "../shapes.ts";
import { pagesOf } from "./pages.ts";

export const keysQuery = (projectId: string) =>
  pagesOf<Key>(["projects", projectId, "keys"], `/api/projects/${projectId}/keys`, 50);
