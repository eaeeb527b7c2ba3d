// Explains each result code of ingestion requests: what happened and how to fix it.
import type { IngestionCode } from "../src/model/ingestion.ts";
import { type RefusalCode, refusals } from "../src/model/refusals.ts";
import type { Word } from "./labels.ts";

export type Explained = {
  /** What happened. */
  why: string;
  /** How to fix it, if there is anything to fix. */
  remedy?: string;
};

/** Shown beside the code, which senders see. */
export function ingestionWord(code: IngestionCode): Word {
  if (code === "OK") return { text: "Accepted", icon: "check", tone: "good" };
  if (code === "PARTIAL") return { text: "Partly accepted", icon: "warning", tone: "warn" };
  return { text: "Rejected", icon: "cross", tone: "bad" };
}

function explanationOf([, what, todo]: (typeof refusals)[RefusalCode]): Explained {
  return { why: what, remedy: todo.replaceAll("`", "") };
}

export const explained = {
  OK: { why: "Everything in the request was stored." },
  PARTIAL: {
    why: "Some traces of the request were stored, others rejected.",
    remedy: "The reasons say why the others were rejected.",
  },
  ...Object.fromEntries(Object.entries(refusals).map(([code, row]) => [code, explanationOf(row)])),
} as Record<IngestionCode, Explained>;
