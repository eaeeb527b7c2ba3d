// What the API answers, where the model has no type of its own for it.
import type { ShownConversation } from "../src/model/conversation/view.ts";
import type { JudgeCall as MadeCall } from "../src/model/judge/call.ts";
import type { JudgeUse } from "../src/model/judge/prices.ts";
import type { KeyAccess } from "../src/model/key.ts";
import type {
  Applicability,
  Counts,
  Outcome,
  Result,
  Routing,
  RunCause,
  RunKind,
  RunState,
  Waiting,
} from "../src/model/run/run.ts";
import type { TestCase } from "../src/model/test-case/test-case.ts";
import type { OutlineSpan } from "../src/model/trace/outline.ts";
import type {
  Attributes,
  Derived,
  Notice,
  Span,
  Tokens,
  TraceKind,
  TracePath,
} from "../src/model/trace/trace.ts";
import type { Why } from "./labels.ts";

export type { OutlineSpan };

export type Page<T> = { items: T[]; nextCursor: string | null };

export type SignedIn = {
  user: { id: string; email: string; name: string; emailVerified: boolean };
  session: { id: string; token: string };
};

/** One of the account's sessions; times are ISO 8601. */
export type Session = {
  id: string;
  token: string;
  createdAt: string;
  updatedAt: string;
  expiresAt: string;
  ipAddress?: string | null;
  userAgent?: string | null;
};

/** `resendAllowedAt` null: now, or never needed again. */
export type Verification = {
  email: string;
  verified: boolean;
  resendAllowedAt: string | null;
  /** False: its links are in the service's log. */
  mailServer: boolean;
};

export type Key = {
  id: string;
  name: string;
  masked: string;
  access: KeyAccess;
  agentIds: string[];
  /** null: never. */
  expiresAt: string | null;
  lastUsedAt: string | null;
  createdAt: string;
  /** null: not known, or gone. */
  createdBy: { id: string; name: string } | null;
  status: "active" | "expired";
};

/** `key` is its whole text, answered this once. */
export type CreatedKey = Key & { key: string };

/** A personal access token; `expiresAt` null never expires. */
export type AccessToken = {
  id: string;
  name: string;
  masked: string;
  expiresAt: string | null;
  lastUsedAt: string | null;
  createdAt: string;
  status: "active" | "expired";
};

/** `token` is its whole text, answered this once. */
export type CreatedAccessToken = AccessToken & { token: string };

/** A run as lists and traces show it; times are ISO 8601. */
export type Run = {
  id: string;
  traceId: string;
  agentId: string;
  /** The trace's revision that was judged; null until then. */
  revision: number | null;
  kind: RunKind;
  /** Of a manual run: the launch that it is part of. */
  launchId: string | null;
  state: RunState;
  dueAt: string;
  createdAt: string;
  startedAt: string | null;
  finishedAt: string | null;
  attempts: number;
  routing: Routing | null;
  verdict: Outcome | null;
  score: number | null;
  counts: Counts | null;
  error: string | null;
  /** Of a run that is running: what it waits for. */
  waiting: Waiting | null;
  /** "again": somebody asked for what an outage skipped. */
  cause: RunCause;
  /** An outage of the judge skipped something here that no later run of the trace has judged. */
  outage: boolean;
};

/** `tests`: of each test as it was then, whether it ran. Of a run at work, both are what is known so far. */
export type RunDetail = Run & {
  results: Result[];
  tests: (Omit<Applicability, "why"> & { why: Why })[];
  /** What its calls of the judge came to; null where there was none. */
  judging: JudgingSum | null;
};

export type JudgingSum = JudgeUse & { calls: number };

/** One call of the judge, with what was sent and what came back; `costUsd` null: its price is not known. */
export type JudgeCall = Omit<MadeCall, "startedAt"> & {
  id: string;
  startedAt: string;
  costUsd: number | null;
};

/**
 * The agent's traces of which an outage skipped something, and how many of them are going to be judged again;
 * `oldest` is when the first of them came.
 */
export type Outages = { traces: number; scheduled: number; oldest: string | null };

export type ListedTrace = {
  id: string;
  agentId: string;
  externalId: string;
  kind: TraceKind;
  path: TracePath;
  name: string;
  revision: number;
  receivedAt: string;
  updatedAt: string;
  durationMs: number | null;
  httpStatus: number | null;
  tokens: Tokens;
  failed: boolean;
  spanCount: number;
  userInput: string | null;
  responseText: string | null;
  /** The latest completed run, else the latest. */
  run: Run | null;
};

/** A trace without its spans' attributes, which are read span by span. */
export type TraceOutline = ListedTrace & {
  startTimeUnixNano: string | null;
  endTimeUnixNano: string | null;
  rootSpanId: string | null;
  metadata: Attributes | null;
  resource: Attributes | null;
  notices: Notice[];
  otherConvention: Derived["otherConvention"];
  /** In the order in which they are stored. */
  spans: OutlineSpan[];
  /** Of metadata and resource, as those of a span. */
  cuts: SpanDetail["cuts"];
  omissions: SpanDetail["omissions"];
  runs: RunDetail[];
  tests: { testId: string; name: string; applied: boolean; why: Why; reason?: string }[];
};

/** One span whole but for its longest texts, each cut after its first part. */
export type SpanDetail = {
  traceId: string;
  revision: number;
  span: Span;
  /** Where texts were cut, by keys and positions from the span, and their whole lengths in characters. */
  cuts: { path: (string | number)[]; length: number }[];
  /** Lists and objects of which not every entry is there, and how many they have. */
  omissions: { path: (string | number)[]; entries: number }[];
};

/** What was said, in the order of time, each message once and with the place it stood at. */
export type Conversation = ShownConversation & { traceId: string; revision: number };

/** A test case as it is answered. */
export type ListedTest = TestCase & { eligibility: "disabled" | "manual_only" | "multi_turn" | null };
