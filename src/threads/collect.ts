// Collects the garbage of a thread that V8 would leave for long.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

let collect: (() => void) | undefined;

/**
 * Frees what the calling thread no longer uses: buffers a few ms later, on a thread of V8. Takes some 5 ms where little is in use.
 */
export function collectGarbage(): void {
  if (!collect) {
    // Only contexts made after it have the function, so no other code sees it.
    setFlagsFromString("--expose-gc");
    collect = runInNewContext("gc") as () => void;
    setFlagsFromString("--no-expose-gc");
  }
  collect();
}
