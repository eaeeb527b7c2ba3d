// URL parameters of the trace list: the API's filters by name, and `within`.

/** `within` is a span of time that ends now, such as "24h". */
export const traceSearch = [
  "kind",
  "text",
  "state",
  "verdict",
  "routing",
  "outage",
  "fullyEvaluated",
  "resultState",
  "testId",
  "testOutcome",
  "testVersion",
  "checkType",
  "failed",
  "httpStatus",
  "path",
  "externalId",
  "tool",
  "model",
  "conversationId",
  "userId",
  "provider",
  "redacted",
  "noise",
  "spanName",
  "attribute",
  "attributeValue",
  "metadata",
  "metadataValue",
  "within",
  "receivedFrom",
  "receivedTo",
  "durationMinMs",
  "durationMaxMs",
  "tokensMin",
  "tokensMax",
  "order",
] as const;

export type TraceSearchName = (typeof traceSearch)[number];
export type TraceSearch = { [N in TraceSearchName]?: string | undefined };

export const spansOfTime: Record<string, { text: string; ms: number }> = {
  "1h": { text: "Last hour", ms: 3_600_000 },
  "24h": { text: "Last 24 hours", ms: 86_400_000 },
  "7d": { text: "Last 7 days", ms: 604_800_000 },
  "30d": { text: "Last 30 days", ms: 2_592_000_000 },
};

/** By the API's values of `order`; absent: newest. */
export const traceOrders: Record<string, string> = {
  newest: "Newest first",
  oldest: "Oldest first",
  longest: "Longest first",
  shortest: "Shortest first",
  most_tokens: "Most tokens",
  fewest_tokens: "Fewest tokens",
  most_expensive: "Most expensive",
  least_expensive: "Least expensive",
};

/** Whether the server searches the spans, for up to a second per page. Such lists are in the order of time. */
export function searchesSpans({ spanName, attribute, metadata }: TraceSearch): boolean {
  return Boolean(spanName || attribute || metadata);
}

/** Whether both filter alike, whatever the order in which their filters were set. */
export function isSameSearch(one: TraceSearch, other: TraceSearch): boolean {
  return traceSearch.every(name => (one[name] || undefined) === (other[name] || undefined));
}

/** The API query at this moment. Invalid values are passed through, and the API's error names them. */
export function traceQuery({ within, ...search }: TraceSearch): URLSearchParams {
  const span = within === undefined ? undefined : spansOfTime[within];
  const from = span ? new Date(Date.now() - span.ms).toISOString() : within;
  const given = Object.entries({ ...search, receivedFrom: search.receivedFrom ?? from });
  return new URLSearchParams(given.filter((pair): pair is [string, string] => Boolean(pair[1])));
}
