// The keys of a project.
import type { Key } from "../../src/http/projects/schemas.ts";
import { pagesOf } from "./pages.ts";

export const keysQuery = (projectId: string) =>
  pagesOf<Key>(["projects", projectId, "keys"], `/api/projects/${projectId}/keys`, 50);
