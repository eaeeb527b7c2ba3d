// The judge: the language model that decides about scenarios and replies.
import { queryOptions } from "@tanstack/react-query";
import { read } from "../api.ts";

/** `host` and `model` are null where none is configured. */
export type JudgeAbout = { configured: boolean; host: string | null; model: string | null };

/** `reason` is a sentence, whatever came of it. */
export type JudgeTrial = { ok: boolean; ms: number; reason: string };

export const judgeQuery = queryOptions({
  queryKey: ["judge"],
  queryFn: ({ signal }) => read<JudgeAbout>("/api/judge", signal),
  staleTime: 60_000,
});
