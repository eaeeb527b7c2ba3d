// Which tests and checks are expanded: kept by their IDs across refreshes of the trace.
import { useEffect, useState } from "react";
import type { Check, Result } from "../../../../src/model/run/run.ts";

export type Folds = {
  isOpen(testId: string, checkId?: string): boolean;
  fold(open: boolean, testId: string, checkId?: string): void;
  foldAll(open: boolean): void;
  /** Expands a test, or a check in it, and scrolls to it. */
  show(testId: string, checkId?: string): void;
};

/** At most this many tests are expanded initially. */
const openMax = 10;

/** By trace ID: in a narrow window the evaluation unmounts while its evidence is shown. */
const keptOf = new Map<string, ReadonlyMap<string, boolean>>();

/** Starts at the test and check in the URL, and follows it when it changes. */
export function useFolds(
  traceId: string,
  results: Result[],
  testId: string | undefined,
  checkId: string | undefined,
): Folds {
  const [kept, setKept] = useState<ReadonlyMap<string, boolean>>(() => keptOf.get(traceId) ?? new Map());
  useEffect(() => void keptOf.set(traceId, kept), [traceId, kept]);
  const [aim, setAim] = useState<{ testId: string; checkId: string | undefined }>();

  const show = (testId: string, checkId?: string) => {
    setKept(kept => new Map(kept).set(placeId(testId), true).set(placeId(testId, checkId), true));
    setAim({ testId, checkId });
  };
  useEffect(() => {
    if (testId !== undefined) show(testId, checkId);
  }, [testId, checkId]);
  useEffect(() => {
    if (!aim) return;
    const place = document.getElementById(placeId(aim.testId, aim.checkId));
    place?.scrollIntoView({ block: aim.checkId === undefined ? "start" : "center" });
    // WebKit shows no focus ring after a click otherwise, even if a key moved the focus.
    if (aim.checkId !== undefined) place?.focus({ preventScroll: true, focusVisible: true });
  }, [aim]);

  const initially = new Set(
    results
      .filter(result => results.length === 1 || needsLook(result))
      .slice(0, openMax)
      .map(result => placeId(result.testId)),
  );
  for (const { testId, checks } of results) {
    for (const check of checks) if (check.outcome !== "passed") initially.add(placeId(testId, check.id));
  }
  const places = results.flatMap(({ testId, checks }) => [
    placeId(testId),
    ...checks.map(({ id }) => placeId(testId, id)),
  ]);
  return {
    isOpen(testId, checkId) {
      const place = placeId(testId, checkId);
      return kept.get(place) ?? initially.has(place);
    },
    fold(open, testId, checkId) {
      setKept(new Map(kept).set(placeId(testId, checkId), open));
    },
    foldAll(open) {
      setKept(new Map(places.map(place => [place, open])));
    },
    show,
  };
}

/** The element ID of a test, or of a check in it. */
export function placeId(testId: string, checkId?: string): string {
  return checkId === undefined
    ? `test-${testId}`
    : `check-${testId}-${encodeURIComponent(wellFormed(checkId))}`;
}

/** The checks that the keys `n` and `p` step through. */
export function failedChecks(
  results: { result: Result; checks: Check[] }[],
): { testId: string; checkId: string }[] {
  return results.flatMap(({ result: { testId }, checks }) =>
    checks.filter(({ outcome }) => outcome === "failed").map(({ id }) => ({ testId, checkId: id })),
  );
}

function needsLook({ outcome }: Result): boolean {
  return outcome === "failed" || outcome === "missing_instrumentation";
}

/** encodeURIComponent throws on half a surrogate pair. */
function wellFormed(text: string): string {
  return text.toWellFormed();
}
