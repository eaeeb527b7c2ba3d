// Shares the event loop of a thread: long computations run in slices, and accounts and their agents take turns at them.
import { FairQueue, type Owners } from "./fair-queue.ts";

/** Longer than an ordinary evaluation takes, so that those run in one go. */
const sliceMs = 10;

// One per thread, as is the event loop.
const waiting = new FairQueue<() => void>();
let isScheduled = false;

/** Runs `steps` to the end. Computations of other owners, and the event loop, get a turn after each slice. */
export async function inTurns<T>(owners: Owners, steps: Iterator<void, T>): Promise<T> {
  let begun = performance.now();
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    if (performance.now() - begun < sliceMs) continue;
    await new Promise<void>(resolve => {
      waiting.add(owners, [resolve]);
      schedule();
    });
    begun = performance.now();
  }
}

/** Runs one slice per round of the event loop, so that input and timers are served between any two. */
function schedule(): void {
  if (isScheduled) return;
  isScheduled = true;
  setImmediate(() => {
    isScheduled = false;
    waiting.turn(slices => slices.shift()!)?.();
    if (!waiting.isEmpty) schedule();
  });
}
