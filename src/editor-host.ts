// The thread that works for whoever writes a test case: started when first asked, ended when idle, replaced when it dies.
import { Worker } from "node:worker_threads";
import type { Logger } from "pino";
import type { Config } from "./config.ts";
import type { Editor } from "./editor.ts";
import { Refusal, type RefusalCode, type RefusalDetail } from "./model/refusal.ts";
import type { JudgeCall } from "./remote/judge.ts";

export type EditorData = { config: Config; databaseUrl: string };

/** What the thread is told: a question, that nobody waits for its answer any more, or to end. */
export type EditorRequest =
  | { type: "ask"; id: number; name: keyof Editor; ask: unknown }
  | { type: "withdraw"; id: number }
  | { type: "stop" };

export type EditorReply =
  | { type: "answer"; id: number; answer: unknown }
  | { type: "refused"; id: number; code: RefusalCode; detail: RefusalDetail }
  | { type: "failed"; id: number; error: string }
  | { type: "judge"; call: JudgeCall };

export type EditorHostOptions = EditorData & {
  log: Pick<Logger, "error">;
  onJudgeCall?: (call: JudgeCall) => void;
  /** For the heap of the thread. */
  memoryMb?: number;
  /** After which a question that was not answered takes the thread down. */
  answerMs?: number;
};

type Job = { resolve: (answer: never) => void; reject: (error: unknown) => void; settle: () => void };

// Beyond the deadline of a dry-run: only a thread that hangs does not answer by then.
const answerMs = 90_000;
// The largest trace that can be stored fits, with its evaluation.
const memoryMb = 2_048;
const idleMs = 60_000;

export class EditorHost implements Editor {
  readonly #options: Required<EditorHostOptions>;
  readonly #jobs = new Map<number, Job>();
  #thread: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;
  #nextId = 1;
  #closed: boolean = false;

  constructor(options: EditorHostOptions) {
    this.#options = { onJudgeCall: () => {}, memoryMb, answerMs, ...options };
  }

  dryRun: Editor["dryRun"] = (ask, signal) => this.#put("dryRun", ask, signal);
  draftTest: Editor["draftTest"] = (ask, signal) => this.#put("draftTest", ask, signal);
  draftAssertion: Editor["draftAssertion"] = (ask, signal) => this.#put("draftAssertion", ask, signal);
  vocabulary: Editor["vocabulary"] = (ask, signal) => this.#put("vocabulary", ask, signal);

  /** What is asked and not answered is refused. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#idle);
    const thread = this.#thread;
    this.#giveUp(stopping());
    await thread?.terminate();
  }

  #put<A>(name: keyof Editor, ask: unknown, signal: AbortSignal): Promise<A> {
    if (this.#closed) return Promise.reject(stopping());
    clearTimeout(this.#idle);
    this.#thread ??= this.#start();
    const thread = this.#thread;
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      const withdraw = () => thread.postMessage({ type: "withdraw", id } satisfies EditorRequest);
      const overdue = setTimeout(() => {
        this.#options.log.error({ name }, "the editor's thread hangs and is ended");
        void thread.terminate();
      }, this.#options.answerMs);
      const settle = () => {
        clearTimeout(overdue);
        signal.removeEventListener("abort", withdraw);
        this.#jobs.delete(id);
      };
      this.#jobs.set(id, { resolve, reject, settle });
      thread.postMessage({ type: "ask", id, name, ask } satisfies EditorRequest);
      if (signal.aborted) withdraw();
      else signal.addEventListener("abort", withdraw, { once: true });
    });
  }

  #start(): Worker {
    const { config, databaseUrl, memoryMb: maxOldGenerationSizeMb, log } = this.#options;
    const workerData: EditorData = { config, databaseUrl };
    const thread = new Worker(new URL("./editor-thread.ts", import.meta.url), {
      workerData,
      resourceLimits: { maxOldGenerationSizeMb },
    });
    thread.on("message", (reply: EditorReply) => this.#read(reply));
    thread.on("error", error => log.error({ err: error }, "the editor's thread died"));
    thread.on("exit", () => {
      if (thread === this.#thread) this.#giveUp(lost());
    });
    return thread;
  }

  #read(reply: EditorReply): void {
    if (reply.type === "judge") {
      this.#options.onJudgeCall(reply.call);
      return;
    }
    const job = this.#jobs.get(reply.id);
    if (!job) return;
    job.settle();
    if (reply.type === "answer") job.resolve(reply.answer as never);
    else
      job.reject(reply.type === "refused" ? new Refusal(reply.code, reply.detail) : new Error(reply.error));
    if (this.#jobs.size === 0) this.#rest();
  }

  /** An idle thread is memory and connections that nobody uses. */
  #rest(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => {
      this.#thread?.postMessage({ type: "stop" } satisfies EditorRequest);
      this.#thread = undefined;
    }, idleMs);
    this.#idle.unref();
  }

  #giveUp(refusal: Refusal): void {
    this.#thread = undefined;
    for (const job of [...this.#jobs.values()]) {
      job.settle();
      job.reject(refusal);
    }
  }
}

function stopping(): Refusal {
  return new Refusal("UNAVAILABLE", { message: "The service is stopping." });
}

function lost(): Refusal {
  return new Refusal("UNAVAILABLE", {
    message: "This could not be worked out: it took more memory or time than it is given.",
    hint: "Try a smaller trace.",
  });
}
