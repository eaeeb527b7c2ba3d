// The issues of a rejected form that none of its fields shows, such as too many rows.
import type { Failure } from "../api.ts";

/** The failure with these issues alone; undefined if the fields show them all. */
export function unmarked(failure: Failure, isMarked: (path: string) => boolean): Failure | undefined {
  const { issues = [] } = failure;
  const left = issues.filter(({ path }) => !isMarked(path));
  return issues.length > 0 && left.length === 0 ? undefined : { ...failure, issues: left };
}
