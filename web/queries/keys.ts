// Query for a project's API keys.
import type { Key } from "../../src/http/projects/schemas.ts";
import { pagesOf } from "./pages.ts";

export const keysQuery = (projectId: string) =>
  pagesOf<Key>(["projects", projectId, "keys"], `/api/projects/${projectId}/keys`, 50);
