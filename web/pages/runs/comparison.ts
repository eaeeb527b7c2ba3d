// The words and groups of two compared launches: how many broke and were fixed, and items by test.
import type {
  ComparedInput,
  ComparedTest,
  LaunchComparison,
  RunSummary,
} from "../../../src/http/test-cases/launch-schemas.ts";
import { numberText } from "../../format.ts";

/** "3 broke, 0 fixed", after what that shows, if it is more than chance; undefined if nothing differs. */
export function differenceText({
  broke,
  mended,
  significant,
}: LaunchComparison["difference"]): string | undefined {
  if (broke + mended === 0) return undefined;
  const counts = `${numberText(broke)} broke, ${numberText(mended)} fixed`;
  if (!significant) return counts;
  return `${broke > mended ? "Worse" : "Better"} than the other run: ${counts}`;
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
