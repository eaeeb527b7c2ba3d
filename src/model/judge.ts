// The questions put to a judge and the answers it may give; an answer that did not come is data, not an exception.

export type RoutingQuestion = {
  userInput: string;
  scenarios: { testId: string; scenario: string }[];
};

export type RouteLabel = "match" | "unsure" | "no_match";

/** `testId` to label; a test left out of the answer is missing from the map. */
export type RoutingAnswer =
  | { state: "ok"; labels: Map<string, { label: RouteLabel; reason: string }> }
  | { state: "not_configured" | "unavailable" | "unusable"; reason: string };

export type SemanticQuestion = {
  testId: string;
  assertionId: string;
  scenario: string;
  userInput: string | null;
  response: string;
  criteria: string;
  reference?: string;
};

/** What the call that was answered took. Tokens are 0 where the server does not say. */
export type Spent = { ms: number; inputTokens: number; outputTokens: number };

/** `score` in 0..1. */
export type SemanticAnswer =
  | { state: "ok"; score: number; reason: string; model: string; spent?: Spent }
  | { state: "not_configured" | "unavailable" | "unusable" | "budget" | "undecided"; reason: string };

/** What run.ts asks; implementations live in remote/. Neither method throws. */
export type Judge = {
  route(question: RoutingQuestion, signal?: AbortSignal): Promise<RoutingAnswer>;
  ask(question: SemanticQuestion, signal?: AbortSignal): Promise<SemanticAnswer>;
};
