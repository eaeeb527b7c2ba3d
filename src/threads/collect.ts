// Collects the garbage of a thread that V8 would leave for long.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

let collect: (() => void) | undefined;

const triesMax = 10;

/**
 * Frees what the calling thread no longer uses: buffers a few ms later, on a thread of V8. Takes some 5 ms where little is in use.
 */
export function collectGarbage(): void {
  collect ??= collector();
  collect?.();
}

/** Only contexts made while the flag is set have the function, so no other code sees it. */
function collector(): (() => void) | undefined {
  let found: (() => void) | undefined;
  // All threads share the flag: another one that comes here at the same time may take it back too soon.
  for (let tries = 0; !found && tries < triesMax; tries++) {
    setFlagsFromString("--expose-gc");
    found = runInNewContext("globalThis.gc");
  }
  setFlagsFromString("--no-expose-gc");
  return found;
}
