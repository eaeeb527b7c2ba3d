// The thread that works for whoever writes a test case.
import type { Logger } from "pino";
import type { Config } from "../config.ts";
import type { Editor } from "../editor.ts";
import type { CountedCall } from "../model/judge/call.ts";
import { readingHeapMb, traceLimits } from "../threads/heap.ts";
import { ThreadHost } from "../threads/host.ts";

export type EditorData = { config: Config; databaseUrl: string };

export type EditorHostOptions = EditorData & {
  log: Pick<Logger, "error">;
  onJudgeCall?: (call: CountedCall) => void;
  /** For the heap of the thread. */
  memoryMb?: number;
  /** After which a question that was not answered takes the thread down. */
  answerMs?: number;
};

// Beyond the deadline of a dry-run: only a thread that hangs does not answer by then.
const answerMs = 90_000;

export class EditorHost implements Editor {
  readonly #host: ThreadHost;

  constructor({ config, databaseUrl, onJudgeCall, ...options }: EditorHostOptions) {
    this.#host = new ThreadHost({
      name: "the editor's thread",
      script: new URL("./editor-thread.ts", import.meta.url),
      workerData: { config, databaseUrl } satisfies EditorData,
      onNote: note => onJudgeCall?.(note as CountedCall),
      memoryMb: readingHeapMb(traceLimits(config.bounds.traceBytesMax)),
      answerMs,
      ...options,
    });
  }

  dryRun: Editor["dryRun"] = (ask, signal) => this.#host.ask("dryRun", ask, signal);
  draftTest: Editor["draftTest"] = (ask, signal) => this.#host.ask("draftTest", ask, signal);
  draftAssertion: Editor["draftAssertion"] = (ask, signal) => this.#host.ask("draftAssertion", ask, signal);
  tryScenario: Editor["tryScenario"] = (ask, signal) => this.#host.ask("tryScenario", ask, signal);
  vocabulary: Editor["vocabulary"] = (ask, signal) => this.#host.ask("vocabulary", ask, signal);

  /** What is asked and not answered is refused. */
  close(): Promise<void> {
    return this.#host.close();
  }
}
