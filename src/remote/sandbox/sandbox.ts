// Answers questions whose cost the author of a test decides, in a thread that is ended when one takes too long.
import { Worker } from "node:worker_threads";
import { type SandboxAnswer, type SandboxQuestion, sandboxTextMax } from "../../model/sandbox.ts";
import type { Answered, Posted } from "./thread.ts";

export type SandboxOptions = {
  /** For one question, from the moment the thread turns to it. */
  budgetMs?: number;
  /** For the thread's heap. */
  memoryMb?: number;
};

type Job = Posted & { resolve: (answer: SandboxAnswer) => void; signal: AbortSignal | undefined };

const batchMax = 32;
/** Characters of one message, beyond its first question: the thread holds all of it at once. */
const batchCharsMax = 2 * sandboxTextMax;
// Two values of a million characters, one parsed after the other, need 48 MB where they are the costliest ("[" and "]"
// alone, or empty objects), and the kept validators 20 MB. A heap that fills up while a value is parsed would end the
// process on Node 24; one that a schema or a pattern fills ends this thread alone.
const threadMemoryMb = 128;
/** A question that timed out this often is answered at once until others have pushed it out of memory. */
const timeoutsMax = 3;
const offendersMax = 200;

export class Sandbox {
  readonly #budgetMs: number;
  readonly #memoryMb: number;
  readonly #waiting: Job[] = [];
  /** With the thread, in the order in which it answers. */
  #posted: Job[] = [];
  #worker: Worker | null = null;
  #ready: boolean = false;
  #timer: NodeJS.Timeout | undefined;
  #nextId = 1;
  #closed: boolean = false;
  /** Timeouts by what the author wrote: a pattern or a schema. */
  readonly #timeouts = new Map<string, number>();

  constructor({ budgetMs = 250, memoryMb = threadMemoryMb }: SandboxOptions = {}) {
    this.#budgetMs = budgetMs;
    this.#memoryMb = memoryMb;
  }

  /** Never throws: what took too long, broke the thread or was withdrawn is an answer too. */
  answer(question: SandboxQuestion, signal?: AbortSignal): Promise<SandboxAnswer> {
    if (this.#closed || signal?.aborted) return Promise.resolve(withdrawn);
    if (textOf(question).length > sandboxTextMax) return Promise.resolve(tooLong);
    if ((this.#timeouts.get(authored(question)) ?? 0) >= timeoutsMax) return Promise.resolve(this.#timeout());
    return new Promise(resolve => {
      this.#waiting.push({ id: this.#nextId++, question, resolve, signal });
      // Those asked in the same turn travel in one message.
      if (this.#waiting.length === 1) queueMicrotask(() => this.#post());
    });
  }

  /** Ends the thread; what was asked and not answered is withdrawn. */
  async close(): Promise<void> {
    this.#closed = true;
    const jobs = [...this.#posted, ...this.#waiting.splice(0)];
    const worker = this.#worker;
    this.#forget();
    for (const { resolve } of jobs) resolve(withdrawn);
    await worker?.terminate();
  }

  #post(): void {
    if (this.#closed || this.#posted.length > 0) return;
    let chars = 0;
    while (this.#waiting.length > 0 && this.#posted.length < batchMax) {
      const job = this.#waiting[0]!;
      chars += textOf(job.question).length + authored(job.question).length;
      if (chars > batchCharsMax && this.#posted.length > 0) break;
      this.#waiting.shift();
      if (job.signal?.aborted) job.resolve(withdrawn);
      else this.#posted.push(job);
    }
    if (this.#posted.length === 0) {
      this.#worker?.unref();
      return;
    }
    this.#worker ??= this.#start();
    this.#worker.ref();
    this.#worker.postMessage(this.#posted.map(({ id, question }) => ({ id, question }) satisfies Posted));
    if (this.#ready) this.#watch();
  }

  #start(): Worker {
    const worker = new Worker(new URL("./thread.ts", import.meta.url), {
      resourceLimits: {
        maxOldGenerationSizeMb: this.#memoryMb,
        maxYoungGenerationSizeMb: 16,
        stackSizeMb: 4,
      },
      env: {},
      execArgv: [],
    });
    worker.on("message", (message: "ready" | Answered) => {
      if (worker !== this.#worker) return;
      if (message === "ready") this.#ready = true;
      else this.#settle(message);
      if (this.#posted.length > 0) this.#watch();
    });
    worker.on("error", () => this.#breakDown(worker));
    worker.on("exit", () => this.#breakDown(worker));
    return worker;
  }

  #settle({ id, answer }: Answered): void {
    const job = this.#posted.shift();
    if (job?.id !== id) throw new Error("The sandbox answered out of order.");
    clearTimeout(this.#timer);
    this.#timeouts.delete(authored(job.question));
    job.resolve(answer);
    if (this.#posted.length === 0) this.#post();
  }

  /** Gives the first of the posted questions its time. */
  #watch(): void {
    clearTimeout(this.#timer);
    const watched = this.#posted[0]!;
    this.#timer = setTimeout(() => {
      // If this thread was the busy one, the answer is there already: let it be read first.
      setImmediate(() => {
        if (this.#posted[0] === watched) this.#giveUp();
      });
    }, this.#budgetMs);
  }

  #giveUp(): void {
    const job = this.#posted.shift()!;
    this.#blame(authored(job.question));
    void this.#worker?.terminate();
    this.#restart();
    job.resolve(this.#timeout());
  }

  /** The thread ended by itself, for want of memory: the question it was at is to blame, the others are asked again. */
  #breakDown(worker: Worker): void {
    if (worker !== this.#worker) return;
    // One that never got ready would not the next time either.
    const lost = this.#ready ? this.#posted.splice(0, 1) : this.#posted.splice(0);
    if (this.#ready) for (const job of lost) this.#blame(authored(job.question));
    this.#restart();
    for (const { resolve } of lost) resolve(broken);
  }

  #restart(): void {
    const left = this.#posted;
    this.#forget();
    this.#waiting.unshift(...left);
    this.#post();
  }

  #forget(): void {
    clearTimeout(this.#timer);
    this.#posted = [];
    this.#worker = null;
    this.#ready = false;
  }

  #blame(text: string): void {
    const before = this.#timeouts.get(text) ?? 0;
    this.#timeouts.delete(text);
    this.#timeouts.set(text, before + 1);
    const oldest = this.#timeouts.size > offendersMax ? this.#timeouts.keys().next() : undefined;
    if (oldest?.value !== undefined) this.#timeouts.delete(oldest.value);
  }

  #timeout(): SandboxAnswer {
    return {
      state: "timeout",
      reason: `Checking this takes longer than the ${this.#budgetMs} ms it is given.`,
    };
  }
}

const withdrawn: SandboxAnswer = { state: "unavailable", reason: "The question was withdrawn." };
const broken: SandboxAnswer = {
  state: "unavailable",
  reason: "Checking this takes more memory than it is given.",
};

const tooLong: SandboxAnswer = {
  state: "unavailable",
  reason: `The value has more than the ${sandboxTextMax} characters that are checked.`,
};

function textOf(question: SandboxQuestion): string {
  return question.kind === "schema" ? question.value : question.text;
}

function authored(question: SandboxQuestion): string {
  return question.kind === "schema" ? question.schema : `/${question.pattern}/${question.flags}`;
}
