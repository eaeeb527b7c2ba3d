// Validates values and searches patterns on a thread that is killed when one question takes too long.
import { fileURLToPath } from "node:url";
import { Piscina } from "piscina";
import { type SandboxAnswer, type SandboxQuestion, sandboxTextMax } from "../../model/sandbox.ts";

export type SandboxOptions = {
  /** Time limit of one question, from when the thread starts it. */
  budgetMs?: number;
  /** Limit of the thread's heap. */
  memoryMb?: number;
};

type Job = {
  question: SandboxQuestion;
  resolve: (answer: SandboxAnswer) => void;
  signal: AbortSignal | undefined;
  /** Whether its batch failed: asked again alone, to find the question that caused it. */
  alone: boolean;
};

// A call to the thread takes 35 µs; 20 questions take 0.2 ms in one call and 0.6 ms in a call each.
const batchMax = 32;
/** Characters of one call, beyond its first question: the thread holds all of them at once. */
const batchCharsMax = 2 * sandboxTextMax;
// Two values of a million characters, one parsed after the other, need 48 MB where they are the costliest ("[" and "]"
// alone, or empty objects), and the cached validators 20 MB. On Node 24, a heap that fills up while a value is parsed
// would end the process; one that a schema or a pattern fills ends this thread alone.
const threadMemoryMb = 128;
/** A thread takes some 60 ms to start, on a busy machine a second. */
const startMs = 60_000;
/** A schema or pattern with this many timeouts is not tried again until others have pushed it out of memory. */
const timeoutsMax = 3;
const offendersMax = 200;

export class Sandbox {
  readonly #budgetMs: number;
  readonly #pool: Piscina;
  readonly #waiting: Job[] = [];
  #batch: Job[] = [];
  #running: boolean = false;
  #closed: boolean = false;
  /** The number of timeouts by pattern or schema. */
  readonly #timeouts = new Map<string, number>();

  constructor({ budgetMs = 250, memoryMb = threadMemoryMb }: SandboxOptions = {}) {
    this.#budgetMs = budgetMs;
    this.#pool = new Piscina({
      filename: fileURLToPath(new URL("./thread.ts", import.meta.url)),
      minThreads: 0,
      maxThreads: 1,
      // The thread keeps compiled schemas, and an idle one does not keep the process alive.
      idleTimeout: Number.POSITIVE_INFINITY,
      resourceLimits: {
        maxOldGenerationSizeMb: memoryMb,
        maxYoungGenerationSizeMb: 16,
        stackSizeMb: 4,
      },
      env: {},
      execArgv: [],
    });
  }

  /** Never throws: a timeout, a thread out of memory and a cancelled question are answers too. */
  answer(question: SandboxQuestion, signal?: AbortSignal): Promise<SandboxAnswer> {
    if (this.#closed || signal?.aborted) return Promise.resolve(withdrawn);
    if (textOf(question).length > sandboxTextMax) return Promise.resolve(tooLong);
    if (this.#isOffender(question)) return Promise.resolve(this.#timeout());
    return new Promise(resolve => {
      this.#waiting.push({ question, resolve, signal, alone: false });
      // After this turn of the event loop, so that questions asked together share a call.
      if (this.#waiting.length === 1) queueMicrotask(() => void this.#run());
    });
  }

  /** Kills the thread; open questions are answered as cancelled. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const { resolve } of [...this.#batch, ...this.#waiting.splice(0)]) resolve(withdrawn);
    await this.#pool.destroy();
  }

  async #run(): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    while (this.#waiting.length > 0) {
      this.#batch = this.#take();
      if (this.#batch.length > 0) await this.#answerBatch(this.#batch);
    }
    this.#running = false;
  }

  #take(): Job[] {
    const taken: Job[] = [];
    let chars = 0;
    while (this.#waiting.length > 0 && taken.length < batchMax) {
      const job = this.#waiting[0]!;
      chars += textOf(job.question).length + authored(job.question).length;
      if (taken.length > 0 && (job.alone || chars > batchCharsMax)) break;
      this.#waiting.shift();
      if (job.signal?.aborted) job.resolve(withdrawn);
      else if (job.alone && this.#isOffender(job.question)) job.resolve(this.#timeout());
      else taken.push(job);
      if (job.alone && taken.length > 0) break;
    }
    return taken;
  }

  async #answerBatch(jobs: Job[]): Promise<void> {
    const result = await this.#ask(jobs.map(({ question }) => question));
    if (this.#closed) return;
    if (Array.isArray(result)) {
      for (const [at, answer] of result.entries()) {
        this.#timeouts.delete(authored(jobs[at]!.question));
        jobs[at]!.resolve(answer);
      }
      // The thread returns early when a batch is slow, so that each question keeps its whole budget.
      this.#waiting.unshift(...jobs.slice(result.length));
    } else if (jobs.length > 1) this.#waiting.unshift(...jobs.map(job => ({ ...job, alone: true })));
    else {
      if (result !== "not started") this.#blame(authored(jobs[0]!.question));
      jobs[0]!.resolve(result === "timeout" ? this.#timeout() : outOfMemory);
    }
  }

  /** Answers to the first of these questions, at least one; or how the thread ended. */
  async #ask(questions: SandboxQuestion[]): Promise<SandboxAnswer[] | "timeout" | "broken" | "not started"> {
    const kill = new AbortController();
    let started = false;
    let timer: NodeJS.Timeout;
    const limit = (ms: number) => {
      clearTimeout(timer);
      // If the calling thread was the busy one, the answer is there already: let it be read first.
      timer = setTimeout(() => setImmediate(() => kill.abort()), ms);
    };
    const start = () => {
      started = true;
      limit(this.#budgetMs);
    };
    const fail = () => kill.abort();
    this.#pool.once("workerCreate", start).once("error", fail);
    if (this.#pool.idleThreads > 0) start();
    else limit(startMs);
    try {
      return await this.#pool.run(questions, { signal: kill.signal });
    } catch {
      return !started ? "not started" : kill.signal.aborted ? "timeout" : "broken";
    } finally {
      clearTimeout(timer!);
      this.#pool.off("workerCreate", start).off("error", fail);
    }
  }

  #isOffender(question: SandboxQuestion): boolean {
    return (this.#timeouts.get(authored(question)) ?? 0) >= timeoutsMax;
  }

  #blame(text: string): void {
    const before = this.#timeouts.get(text) ?? 0;
    this.#timeouts.delete(text);
    this.#timeouts.set(text, before + 1);
    if (this.#timeouts.size > offendersMax) this.#timeouts.delete(this.#timeouts.keys().next().value!);
  }

  #timeout(): SandboxAnswer {
    return { state: "timeout", reason: { code: "sandbox_timeout", data: { ms: this.#budgetMs } } };
  }
}

const withdrawn: SandboxAnswer = { state: "unavailable", reason: { code: "sandbox_cancelled" } };
const outOfMemory: SandboxAnswer = { state: "unavailable", reason: { code: "sandbox_out_of_memory" } };

const tooLong: SandboxAnswer = {
  state: "unavailable",
  reason: { code: "text_too_long", data: { max: sandboxTextMax } },
};

function textOf(question: SandboxQuestion): string {
  return question.kind === "schema" ? question.value : question.text;
}

function authored(question: SandboxQuestion): string {
  return question.kind === "schema" ? question.schema : `/${question.pattern}/${question.flags}`;
}
