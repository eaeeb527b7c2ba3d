// The thread where large bodies are parsed, and where what tenants write is compiled to check it; accounts take turns.
import { ThreadPool } from "../../threads/pool.ts";
import type { App } from "./deps.ts";

export type Check = "body" | "test" | "draft" | "validate" | "rules";

/** Rejects with the Refusal of what is invalid; UNAVAILABLE while too many wait. */
export type Checking = <T>(check: Check, accountId: string, input: unknown) => Promise<T>;

// The patterns of one test, or rules of one project, take at most half a second to compile.
const hangMs = 30_000;
const callsMax = 50;
const memoryMb = 256;

const known = new WeakMap<App, Checking>();

/** One for all routes of the app. */
export function checkingOf(app: App): Checking {
  const made = known.get(app) ?? openChecking(app);
  known.set(app, made);
  return made;
}

function openChecking(app: App): Checking {
  const pool = new ThreadPool({
    name: "the checking thread",
    script: new URL("./checking/thread.ts", import.meta.url),
    memoryMb,
    hangMs,
    callsMax,
    callsPerThread: 1,
  });
  app.addHook("onClose", () => pool.close());
  return (check, accountId, input) => pool.call(check, input, { owners: [accountId, ""] });
}
