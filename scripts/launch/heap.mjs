// V8 flags that make the service collect its whole heap rarely (docs/decisions/015-what-ingestion-costs.md).

import { spawnSync } from "node:child_process";
import { availableParallelism, totalmem } from "node:os";

/**
 * V8 counts the buffers of requests as memory outside the heap, and collects the whole heap whenever they have grown by
 * some 64 MB: several times a second under load. With the first flag they count together with the heap, and with the
 * second neither is collected as a whole below 192 MB of heap.
 */
const memoryFlags = ["--external-memory-accounted-in-global-limit", "--initial-old-space-size=192"];

/**
 * V8 marks with four threads of its own, which on a small machine take every core from requests for 40 ms at a time. So
 * they leave one core free.
 */
const threads = Math.min(Math.max(availableParallelism() - 1, 1), 4);
const flags = [...memoryFlags, `--v8-pool-size=${threads}`];

/** With less memory, some 200 MB more per process are worth more than CPU time. */
const memoryMin = 2 * 1024 ** 3;

/** The flags for this Node. None if it does not have them all, since a Node that gets an unknown flag does not start. */
export function heapFlags(node) {
  if (memoryHere() < memoryMin) return [];
  const { status } = spawnSync(node, [...flags, "--version"], { stdio: "ignore" });
  return status === 0 ? flags : [];
}

/** What the control group of this process may take, if that is less than the machine has. */
function memoryHere() {
  // 0, or more than there is, where nothing limits it.
  const limit = process.constrainedMemory?.() || Number.POSITIVE_INFINITY;
  return Math.min(limit, totalmem());
}
