// How the state of a test is shown.
import type { Failing as Stored } from "../../store/alerts/test-states.ts";
import type { Failing } from "./schemas.ts";

export function failingView(failing: Stored | undefined): Failing | null {
  return failing ? { since: failing.since.toISOString(), traceId: failing.traceId } : null;
}
