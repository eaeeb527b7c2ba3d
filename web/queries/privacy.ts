// Queries for a project's privacy settings and the key of its pseudonyms.
import { queryOptions } from "@tanstack/react-query";
import type { Privacy, PseudonymKey } from "../../src/http/privacy-schemas.ts";
import { read } from "../api.ts";

export const privacyQuery = (projectId: string) =>
  queryOptions({
    queryKey: ["projects", projectId, "privacy"],
    queryFn: ({ signal }) => read<Privacy>(`/api/projects/${projectId}/privacy`, signal),
  });

export const pseudonymKeyQuery = (projectId: string) =>
  queryOptions({
    queryKey: ["projects", projectId, "pseudonym-key"],
    queryFn: ({ signal }) => read<PseudonymKey>(`/api/projects/${projectId}/privacy/pseudonym-key`, signal),
  });
