// The words and groups of two compared launches: whether pass rates differ beyond chance, and items by test.
import type {
  ComparedInput,
  ComparedTest,
  LaunchComparison,
  RunSummary,
} from "../../../src/http/test-cases/launch-schemas.ts";

type Difference = NonNullable<LaunchComparison["difference"]>;

/** "Up 12.5 points, beyond the margin of error"; undefined if one launch has no pass rate. */
export function differenceText(difference: Difference | null): string | undefined {
  if (difference === null) return undefined;
  const points = Math.round(Math.abs(difference.share) * 1000) / 10;
  if (points === 0) return "Same pass rate";
  const direction = difference.share > 0 ? "Up" : "Down";
  const margin = difference.significant ? "beyond the margin of error" : "within the margin of error";
  return `${direction} ${points} ${points === 1 ? "point" : "points"}, ${margin}`;
}

export type ComparedGroup = { test: ComparedTest; items: ComparedInput[] };

/** Items by test in the order of the pages; a test may go on in the next page. */
export function groupsOf(pages: readonly Pick<LaunchComparison, "tests" | "items">[]): ComparedGroup[] {
  const groups = new Map<string, ComparedGroup>();
  for (const { tests, items } of pages) {
    for (const test of tests) groups.set(test.testId, { items: groups.get(test.testId)?.items ?? [], test });
    for (const item of items) groups.get(item.testId)?.items.push(item);
  }
  return [...groups.values()];
}

/** Whether the launches share no test and input. */
export function haveNothingInCommon({
  broke,
  mended,
  same,
  undecided,
}: LaunchComparison["changes"]): boolean {
  return broke + mended + same + undecided === 0;
}

/** The result of the only run, if there is one run. */
export function onlyResult({ runs, counts }: RunSummary): keyof RunSummary["counts"] | undefined {
  if (runs !== 1) return undefined;
  return (Object.keys(counts) as (keyof typeof counts)[]).find(kind => counts[kind] > 0);
}
