// Runs the test editor on a thread, so that a dry run does not stall other requests.

import type { Logger } from "pino";
import type { Editor } from "../editor.ts";
import type { CountedCall } from "../model/judge/call.ts";
import { readingHeapMb, traceLimits } from "../threads/heap.ts";
import { ThreadPool } from "../threads/pool.ts";
import type { EditorThreadData } from "./editor-thread.ts";

export type ThreadedEditorOptions = Omit<EditorThreadData, "processes"> & {
  /** Default: 1. */
  processes?: number;
  log: Pick<Logger, "error">;
  onJudgeCall?: (call: CountedCall) => void;
  /** Heap limit of the thread. */
  memoryMb?: number;
  /** A thread that finishes no call for this long is killed. */
  hangMs?: number;
};

// Longer than the 60 s deadline of a dry run, so that only a hanging thread reaches it.
const hangMs = 90_000;
// More than users cause by hand; in a longer queue, requests would wait until their users have left.
const callsMax = 200;

export class ThreadedEditor implements Editor {
  readonly #pool: ThreadPool;

  constructor({ config, addresses, processes = 1, onJudgeCall, ...options }: ThreadedEditorOptions) {
    this.#pool = new ThreadPool({
      name: "the editor thread",
      script: new URL("./editor-thread.ts", import.meta.url),
      workerData: { config, addresses, processes } satisfies EditorThreadData,
      onEvent: event => onJudgeCall?.(event as CountedCall),
      memoryMb: readingHeapMb(traceLimits(config.bounds.traceBytesMax)),
      hangMs,
      callsMax,
      ...options,
    });
  }

  dryRun: Editor["dryRun"] = (request, signal) => this.#pool.call("dryRun", request, { signal });
  draftTest: Editor["draftTest"] = (request, signal) => this.#pool.call("draftTest", request, { signal });
  draftAssertion: Editor["draftAssertion"] = (request, signal) =>
    this.#pool.call("draftAssertion", request, { signal });
  tryScenario: Editor["tryScenario"] = (request, signal) =>
    this.#pool.call("tryScenario", request, { signal });
  traceInputs: Editor["traceInputs"] = (request, signal) =>
    this.#pool.call("traceInputs", request, { signal });
  estimateBacktest: Editor["estimateBacktest"] = (request, signal) =>
    this.#pool.call("estimateBacktest", request, { signal });
  backtest: Editor["backtest"] = (request, signal) => this.#pool.call("backtest", request, { signal });
  tryLabels: Editor["tryLabels"] = (request, signal) => this.#pool.call("tryLabels", request, { signal });
  tryRedaction: Editor["tryRedaction"] = (request, signal) =>
    this.#pool.call("tryRedaction", request, { signal });
  knownClasses: Editor["knownClasses"] = (request, signal) =>
    this.#pool.call("knownClasses", request, { signal });
  vocabulary: Editor["vocabulary"] = (request, signal) => this.#pool.call("vocabulary", request, { signal });

  /** Refuses open requests. */
  close(): Promise<void> {
    return this.#pool.close();
  }
}
