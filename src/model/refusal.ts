// Expected errors: the one error type that reaches clients.

import { type RefusalCode, refusals } from "./refusals.ts";

/**
 * 2 or 3 s, at random. Exporters try four to six times: after 1 s each, they give up sooner than without the header.
 * Some have 10 s in all and give up at once if the header asks for more than is left.
 */
const soon = () => 2 + Math.floor(Math.random() * 2);

/** An invalid field: its path in JavaScript notation (`spans[3].name`), and what is expected. */
export type Issue = { path: string; message: string };

export type RefusalDetail = {
  message?: string;
  /** How to fix it. Public. */
  hint?: string;
  issues?: Issue[];
  /** Seconds, sent as Retry-After. */
  retryAfterSeconds?: number;
  /** Private: logged, never sent. */
  cause?: unknown;
  /** Private: the agent that a request for ingestion names, as sent. */
  agentId?: string | undefined;
};

/** Thrown, or returned as a value, for expected errors. Never echoes a key or a payload. */
export class Refusal extends Error {
  override name = "Refusal";
  readonly code: RefusalCode;
  readonly hint: string | undefined;
  readonly issues: Issue[] | undefined;
  readonly retryAfterSeconds: number | undefined;
  agentId: string | undefined;

  constructor(code: RefusalCode, detail: RefusalDetail = {}) {
    super(detail.message ?? refusals[code][1], { cause: detail.cause });
    this.code = code;
    this.hint = detail.hint;
    this.issues = detail.issues;
    this.agentId = detail.agentId;
    const retryable = code === "UNAVAILABLE" || code === "RATE_LIMITED";
    this.retryAfterSeconds = detail.retryAfterSeconds ?? (retryable ? soon() : undefined);
  }

  get status(): number {
    return refusals[this.code][0];
  }
}
