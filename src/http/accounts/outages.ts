// What failed below the accounts library, which tells it to its log alone: an outage is no bug, and ends no session.
import { AsyncLocalStorage } from "node:async_hooks";
import { isTransient } from "../../store/db.ts";

type Met = { outage?: unknown };

const asking = new AsyncLocalStorage<Met>();

/** To be handed all that the library logs. */
export function noteOutage(...logged: unknown[]): void {
  const met = asking.getStore();
  const outage = logged.find(isTransient);
  if (met && outage) met.outage = outage;
}

/**
 * Has the library asked. Where it objects, which it does in the same words for an outage as for a bug or for somebody
 * who is not signed in, throws the outage that was under it. Asking the database afterwards would tell too late: it may
 * be back by then.
 */
export async function askLibrary<T>(ask: () => Promise<T>, isObjection: (answer: T) => boolean): Promise<T> {
  const met: Met = {};
  try {
    const answer = await asking.run(met, ask);
    if (met.outage && isObjection(answer)) throw met.outage;
    return answer;
  } catch (error) {
    throw met.outage ?? error;
  }
}
