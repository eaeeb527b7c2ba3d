// Loaded into a service before its own code: on SIGUSR2, prints the longest pause of its main thread's event loop since the
// last time, as one line of JSON.
import { monitorEventLoopDelay } from "node:perf_hooks";
import { isMainThread } from "node:worker_threads";

const resolution = 10;

if (isMainThread) {
  const delays = monitorEventLoopDelay({ resolution });
  delays.enable();
  process.on("SIGUSR2", () => {
    process.stdout.write(
      `${JSON.stringify({ longestPauseMs: Math.max(0, delays.max / 1e6 - resolution) })}\n`,
    );
    delays.reset();
  });
}
