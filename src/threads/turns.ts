// Shares the event loop of a thread: long computations run in slices, and accounts and their agents take turns at them.
import { FairQueue, type Owners } from "./fair-queue.ts";

/** Longer than an ordinary evaluation takes, so that those run in one go. */
const sliceMs = 10;

// One per thread, as is the event loop.
const waiting = new FairQueue<() => void>();
let isScheduled = false;

// When the computations of this round of the event loop began: what is over its slice waits, for any holder.
let begunAt: number | undefined;

function isSpent(): boolean {
  const now = performance.now();
  if (begunAt === undefined) {
    begunAt = now;
    setImmediate(endRound);
  }
  return now - begunAt >= sliceMs;
}

function endRound(): void {
  begunAt = undefined;
}

/** Resolves once there is time for a computation in this round of the event loop. */
export async function timeInRound(): Promise<void> {
  while (isSpent()) await new Promise(resolve => setImmediate(resolve));
}

/**
 * Runs `steps` to the end. Computations of other owners, and the event loop, get a turn after each slice; those of the same
 * owners end one after the other.
 */
export async function inTurns<T>(owners: Owners, steps: Iterator<void, T>): Promise<T> {
  for (let isBegun = false; ; isBegun = true) {
    if (isSpent()) {
      await new Promise<void>(resolve => {
        waiting.add(owners, [resolve], isBegun);
        schedule();
      });
    }
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Runs one slice per round of the event loop, so that input and timers are served between any two. */
function schedule(): void {
  if (isScheduled) return;
  isScheduled = true;
  setImmediate(() => {
    isScheduled = false;
    endRound();
    waiting.turn(slices => slices.shift()!)?.();
    if (!waiting.isEmpty) schedule();
  });
}
