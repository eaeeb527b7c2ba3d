// Detects database outages below the accounts library, which only logs them, so that an outage neither looks like a bug
// nor ends a session.
import { AsyncLocalStorage } from "node:async_hooks";
import { isTransient } from "../../store/db.ts";

type CallState = { outage?: unknown };

const calls = new AsyncLocalStorage<CallState>();

/** Call with everything that the library logs. */
export function recordOutage(...logged: unknown[]): void {
  const state = calls.getStore();
  const outage = logged.find(isTransient);
  if (state && outage) state.outage = outage;
}

/**
 * Calls the library and throws the outage that caused an error response: the library responds the same way to an outage,
 * a bug and a missing session. Checking the database afterwards would be too late, because it may be back by then.
 */
export async function callLibrary<T>(call: () => Promise<T>, isError: (response: T) => boolean): Promise<T> {
  const state: CallState = {};
  try {
    const response = await calls.run(state, call);
    if (state.outage && isError(response)) throw state.outage;
    return response;
  } catch (error) {
    throw state.outage ?? error;
  }
}
