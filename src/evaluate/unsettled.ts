// What a missing answer of the judge leaves of a run: whether it may still be decided, and whether it is worth judging again.
import type { RoutingAnswer } from "../model/judge/judge.ts";
import type { Verdict } from "../model/run/run.ts";

type Judged = Pick<Verdict, "results" | "tests">;

/** Whether something in it waits for the judge. An answer that waits and that nothing depends on is none. */
export function isWaiting({ results, tests }: Judged): boolean {
  return (
    tests.some(({ why }) => why === "routing_waiting") ||
    results.some(({ checks }) => checks.some(({ skipped }) => skipped === "waiting"))
  );
}

/**
 * Whether an outage of the judge kept something from being judged. Having none, a budget that is used up and a sample
 * that leaves the trace out are no outages: asking again would change nothing.
 */
export function isOutage({ results, tests }: Judged, routing: RoutingAnswer | null): boolean {
  const unlabelled = tests.filter(({ why }) => why === "routing_unavailable");
  return (
    unlabelled.some(({ testId }) => isRoutingOutage(routing, testId)) ||
    results.some(({ checks }) =>
      checks.some(({ skipped }) => skipped === "judge_unavailable" || skipped === "judge_unusable"),
    )
  );
}

function isRoutingOutage(routing: RoutingAnswer | null, testId: string): boolean {
  if (routing === null) return false;
  const { code } = (routing.code === "ok" && routing.unlabelled?.get(testId)) || routing;
  return code !== "not_configured" && code !== "budget" && code !== "not_sampled";
}
