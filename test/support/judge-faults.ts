// Every way in which a judge fails to answer, and what the API then says about a check that asked it.
import type { JudgeCallState } from "../../src/model/judge/call.ts";
import {
  askedOf,
  completion,
  cutOff,
  declined,
  idsOf,
  type JudgeRequest,
  json,
  labelsOf,
  type Reply,
  raw,
  refusal,
  reset,
  verdictsOf,
} from "./judge-server.ts";

export type JudgeFault = {
  name: string;
  reply: (request: JudgeRequest) => Reply;
  /** How each call ends. */
  state: JudgeCallState;
  /** In the reason of a check that was not judged. */
  reason: RegExp;
};

const always = (reply: Reply) => () => reply;

/** Temporary faults: the run waits. */
export const passingFaults: JudgeFault[] = [
  {
    name: "429 with a short Retry-After",
    reply: always(refusal(429, {}, { "retry-after": "1" })),
    state: "later",
    reason: /answered with status 429/,
  },
  {
    name: "429 without quota left",
    reply: always(
      json(429, { error: { message: "No.", type: "x", code: "insufficient_quota" } }, { "retry-after": "1" }),
    ),
    state: "later",
    reason: /quota at the judge's provider is used up/,
  },
  { name: "500", reply: always(refusal(500)), state: "later", reason: /answered with status 500/ },
  { name: "503", reply: always(refusal(503)), state: "later", reason: /answered with status 503/ },
  {
    name: "502 with a page",
    reply: always(raw(502, "text/html", "<html>Bad gateway</html>")),
    state: "later",
    reason: /answered with status 502/,
  },
  { name: "a reset", reply: always(reset), state: "later", reason: /server closed the connection/ },
  { name: "a broken-off answer", reply: always(cutOff), state: "later", reason: /answer broke off/ },
];

export type FinalFault = JudgeFault & {
  code: "judge_unavailable" | "judge_unusable";
  /** Calls that each kind of question costs; if `stops`, all calls of a run. */
  calls: number;
  /** Nothing more is asked after it. */
  stops?: true;
  /** The response reports its token usage. */
  metered?: true;
};

const unusable = { state: "unusable", code: "judge_unusable", calls: 1 } as const;
const leftOut = {
  state: "ok",
  code: "judge_unusable",
  calls: 2,
  metered: true,
  reason: /left this question out of its answer twice/,
} as const;

/** Permanent faults: the run ends immediately. */
export const finalFaults: FinalFault[] = [
  {
    name: "429 with a Retry-After beyond the deadline",
    reply: always(refusal(429, {}, { "retry-after": "3600" })),
    ...{
      state: "later",
      reason: /answered with status 429/,
      code: "judge_unavailable",
      calls: 1,
      stops: true,
    },
  },
  {
    name: "401",
    reply: always(refusal(401)),
    ...{ state: "refused", reason: /rejected the API key \(401\)/, code: "judge_unavailable" },
    ...{ calls: 1, stops: true },
  },
  {
    name: "404",
    reply: always(refusal(404)),
    ...{ state: "refused", reason: /does not know this URL or model \(404\)/, code: "judge_unavailable" },
    ...{ calls: 1, stops: true },
  },
  {
    name: "402 with a Retry-After beyond the deadline",
    reply: always(refusal(402, {}, { "retry-after": "3600" })),
    ...{
      state: "later",
      reason: /quota at the judge's provider is used up/,
      code: "judge_unavailable",
      calls: 1,
      stops: true,
    },
  },
  { name: "400", reply: always(refusal(400)), ...unusable, reason: /rejected the request \(400\)/ },
  {
    name: "a redirect",
    reply: always(raw(307, "text/plain", "", { location: "http://127.0.0.1:1/" })),
    ...{ state: "refused", reason: /redirects elsewhere, which is not followed/, code: "judge_unavailable" },
    ...{ calls: 1, stops: true },
  },
  {
    name: "a model that declines",
    reply: always(declined),
    ...{ ...unusable, reason: /refused to answer|did not answer with the requested JSON/, metered: true },
  },
  {
    name: "a content filter",
    reply: always(completion("", "content_filter")),
    ...{ ...unusable, reason: /content filter/, metered: true },
  },
  {
    name: "an answer cut short",
    reply: always(completion('{"labels":[{"id":"s1"', "length")),
    ...{ ...unusable, reason: /cut short/, metered: true },
  },
  {
    name: "a page of HTML",
    reply: always(raw(200, "text/html", "<html>Sign in</html>")),
    ...{ ...unusable, reason: /did not answer like a language model's server/ },
  },
  {
    name: "an empty answer",
    reply: always(raw(200, "application/json", "")),
    ...{ ...unusable, reason: /did not answer like a language model's server/ },
  },
  {
    name: "bad JSON",
    reply: always(completion('{"labels": [')),
    ...{ ...unusable, calls: 2, reason: /did not answer with the requested JSON/, metered: true },
  },
  {
    name: "NaN for a score",
    reply: always(completion('{"verdicts":[{"id":"c1","evidence":"","reason":"Fine.","score":NaN}]}')),
    ...{ ...unusable, calls: 2, reason: /did not answer with the requested JSON/, metered: true },
  },
  {
    name: "10 MB",
    reply: always(completion("x".repeat(10_000_000))),
    ...{ ...unusable, reason: /larger than 1 MB/ },
  },
  { name: "missing ids", reply: request => completion(entries(request, () => [])), ...leftOut },
  {
    name: "unknown ids",
    reply: request => completion(entries(request, entry => [{ ...entry, id: `${entry["id"]}9` }])),
    ...leftOut,
  },
  {
    name: "ids that contradict themselves",
    reply: request =>
      completion(
        entries(request, entry => {
          if (!idsOf(request).includes(entry["id"] as string)) return [entry];
          const other = "label" in entry ? { label: "no_match" } : { verdict: "cannot_tell" };
          return [entry, { ...entry, ...other }];
        }),
      ),
    ...leftOut,
  },
  {
    name: "scores in place of words",
    reply: request =>
      completion(
        entries(request, entry => [
          "label" in entry ? { ...entry, label: 0.2 } : { ...entry, verdict: "1", score: "NaN" },
        ]),
      ),
    ...leftOut,
  },
];

type Entry = Record<string, unknown>;

/** The answers of an obliging judge, with each entry replaced. */
function entries(request: JudgeRequest, replaced: (entry: Entry) => Entry[]): object {
  if (askedOf(request).kind === "semantic") return { verdicts: verdictsOf(request).flatMap(replaced) };
  return { labels: labelsOf(request).flatMap(replaced) };
}
