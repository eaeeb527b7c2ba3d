// Runs the editor of test cases on a thread, so that a dry-run stalls no other request.
import type { Logger } from "pino";
import type { Config } from "../config.ts";
import type { Editor } from "../editor.ts";
import type { CountedCall } from "../model/judge/call.ts";
import { readingHeapMb, traceLimits } from "../threads/heap.ts";
import { ThreadPool } from "../threads/pool.ts";

export type EditorData = { config: Config; databaseUrl: string };

export type EditorHostOptions = EditorData & {
  log: Pick<Logger, "error">;
  onJudgeCall?: (call: CountedCall) => void;
  /** For the heap of the thread. */
  memoryMb?: number;
  /** A thread that answers nothing for this long is killed. */
  answerMs?: number;
};

// Longer than the deadline of a dry-run: only a thread that hangs does not answer by then.
const answerMs = 90_000;
// More than people ask for by hand; a longer queue would answer after they have left.
const asksMax = 200;

export class EditorHost implements Editor {
  readonly #pool: ThreadPool;

  constructor({ config, databaseUrl, onJudgeCall, ...options }: EditorHostOptions) {
    this.#pool = new ThreadPool({
      name: "the editor's thread",
      script: new URL("./editor-thread.ts", import.meta.url),
      workerData: { config, databaseUrl } satisfies EditorData,
      onNote: note => onJudgeCall?.(note as CountedCall),
      memoryMb: readingHeapMb(traceLimits(config.bounds.traceBytesMax)),
      answerMs,
      asksMax,
      ...options,
    });
  }

  dryRun: Editor["dryRun"] = (ask, signal) => this.#pool.ask("dryRun", ask, { signal });
  draftTest: Editor["draftTest"] = (ask, signal) => this.#pool.ask("draftTest", ask, { signal });
  draftAssertion: Editor["draftAssertion"] = (ask, signal) =>
    this.#pool.ask("draftAssertion", ask, { signal });
  tryScenario: Editor["tryScenario"] = (ask, signal) => this.#pool.ask("tryScenario", ask, { signal });
  vocabulary: Editor["vocabulary"] = (ask, signal) => this.#pool.ask("vocabulary", ask, { signal });

  /** Open questions are refused. */
  close(): Promise<void> {
    return this.#pool.close();
  }
}
