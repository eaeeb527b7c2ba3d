// Draft of a project's own judge, with numbers as typed.
import type { ProjectJudge } from "../../../src/http/judge/schemas.ts";
import type { JudgeProvider } from "../../../src/model/judge/call.ts";
import type { DraftHeader } from "../../forms/connection-draft.ts";
import { sentHeaders, storedHeaders } from "../../forms/judge-headers.ts";

/** The project's own judge; null: it has none. */
export type OwnJudge = Pick<
  ProjectJudge,
  | "provider"
  | "url"
  | "model"
  | "headers"
  | "keySet"
  | "keyLastFour"
  | "concurrency"
  | "tokensPerMinute"
  | "votes"
> | null;

export type JudgeDraft = {
  provider: JudgeProvider;
  url: string;
  model: string;
  /** Empty: the stored key is kept, unless `removesKey`. */
  apiKey: string;
  removesKey: boolean;
  headers: DraftHeader[];
  concurrency: string;
  tokensPerMinute: string;
  votes: boolean;
};

/** Without what the service finds out by using the judge. */
export function ownJudge(judge: ProjectJudge): OwnJudge {
  if (judge.source !== "project") return null;
  const { provider, url, model, headers, keySet, keyLastFour, concurrency, tokensPerMinute, votes } = judge;
  return { provider, url, model, headers, keySet, keyLastFour, concurrency, tokensPerMinute, votes };
}

/** Other servers than a provider's own may do without a key. */
export function needsNoKey({ provider, url }: Pick<JudgeDraft, "provider" | "url">): boolean {
  return provider === "openai_compatible" || url.trim() !== "";
}

export const judgeDrafting = {
  toDraft: (own: OwnJudge): JudgeDraft => ({
    provider: own?.provider ?? "openai",
    url: own?.url ?? "",
    model: own?.model ?? "",
    apiKey: "",
    removesKey: false,
    headers: storedHeaders(own?.headers ?? []),
    concurrency: String(own?.concurrency ?? 8),
    tokensPerMinute: String(own?.tokensPerMinute ?? ""),
    votes: own?.votes ?? false,
  }),
  fromDraft: ({ apiKey, removesKey, headers, ...draft }: JudgeDraft) => ({
    provider: draft.provider,
    url: draft.url.trim() || null,
    model: draft.model,
    // Without `apiKey`, the service keeps the stored key.
    ...(apiKey !== "" ? { apiKey } : removesKey && needsNoKey(draft) && { apiKey: null }),
    headers: sentHeaders(headers),
    concurrency: Number(draft.concurrency),
    tokensPerMinute: draft.tokensPerMinute ? Number(draft.tokensPerMinute) : null,
    votes: draft.votes,
  }),
};
