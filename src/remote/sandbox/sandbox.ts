// Validates values and searches patterns on a thread that is killed when one question takes too long. Accounts and their
// agents take turns; agents have a budget of time.
import { fileURLToPath } from "node:url";
import { Piscina } from "piscina";
import { type RunBudget, sandboxMsMax } from "../../model/run/budget.ts";
import { type SandboxAnswer, type SandboxQuestion, sandboxTextMax } from "../../model/sandbox.ts";
import { FairQueue, type Owners } from "../../threads/fair-queue.ts";
import { AgentBudgets } from "./agent-budgets.ts";
import { batchMs, notStarted, type SandboxBatch, type TimedAnswer } from "./batch.ts";
import { Offenders } from "./offenders.ts";

export type SandboxOptions = {
  /** Time limit of one question, from when the thread starts it. */
  budgetMs?: number;
  /** Slow time of one agent per minute, see AgentBudgets. */
  agentMsPerMinute?: number;
  /** Limit of the thread's heap. */
  memoryMb?: number;
};

/** Who asks: accounts and their agents take turns, and every question is charged to the budget of its run. */
export type SandboxCaller = { accountId: string; agentId: string; budget: Pick<RunBudget, "sandboxMsLeft"> };

type Job = SandboxCaller & {
  question: SandboxQuestion;
  resolve: (answer: SandboxAnswer) => void;
  signal: AbortSignal | undefined;
  /** Whether its batch ran out of memory: asked again alone, because others may have filled it. */
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
/** A thread takes some 60 ms to start, on a busy machine seconds. */
const startMs = 60_000;
const defaultBudgetMs = 250;
// A sixth of the sandbox. Forty schemas that always time out use it up.
const defaultAgentMsPerMinute = 10_000;

export class Sandbox {
  readonly #budgetMs: number;
  readonly #agentMsPerMinute: number;
  readonly #pool: Piscina;
  readonly #waiting = new FairQueue<Job>();
  readonly #agents: AgentBudgets;
  readonly #offenders = new Offenders();
  readonly #progress = new Int32Array(new SharedArrayBuffer(4));
  #batch: Job[] = [];
  /** When the thread started on the batch. */
  #startedAt = 0;
  #running: boolean = false;
  #closed: boolean = false;

  constructor({
    budgetMs = defaultBudgetMs,
    agentMsPerMinute = defaultAgentMsPerMinute,
    memoryMb = threadMemoryMb,
  }: SandboxOptions = {}) {
    this.#budgetMs = budgetMs;
    this.#agentMsPerMinute = agentMsPerMinute;
    this.#agents = new AgentBudgets(agentMsPerMinute);
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

  /** Never throws: a timeout, a spent budget, a thread out of memory and a cancelled question are answers too. */
  answer(question: SandboxQuestion, caller: SandboxCaller, signal?: AbortSignal): Promise<SandboxAnswer> {
    if (this.#closed) return Promise.resolve(withdrawn);
    if (textOf(question).length > sandboxTextMax) return Promise.resolve(tooLong);
    return new Promise(resolve => {
      const job: Job = { ...caller, question, resolve, signal, alone: false };
      const refusal = this.#refusalOf(job);
      if (refusal) return resolve(refusal);
      // After this turn of the event loop, so that questions asked together share a call.
      if (this.#waiting.isEmpty) queueMicrotask(() => void this.#run());
      this.#waiting.add(ownersOf(job), [job]);
    });
  }

  /** Kills the thread; open questions are answered as cancelled. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const { resolve } of [...this.#batch, ...this.#waiting.clear()]) resolve(withdrawn);
    await this.#pool.destroy();
  }

  async #run(): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    for (;;) {
      const batch = this.#waiting.turn(queued => this.#take(queued));
      if (!batch) break;
      this.#batch = batch;
      if (batch.length > 0) await this.#answerBatch(batch);
    }
    this.#running = false;
  }

  /** Questions of one agent. */
  #take(queued: Job[]): Job[] {
    const taken: Job[] = [];
    let chars = 0;
    while (queued.length > 0 && taken.length < batchMax) {
      const job = queued[0]!;
      chars += textOf(job.question).length + authored(job.question).length;
      if (taken.length > 0 && (job.alone || chars > batchCharsMax)) break;
      queued.shift();
      const refusal = this.#refusalOf(job);
      if (refusal) job.resolve(refusal);
      else taken.push(job);
      if (job.alone && taken.length > 0) break;
    }
    return taken;
  }

  /** Why the question is not put to the thread, or not any more. */
  #refusalOf({ question, signal, agentId, budget }: Job): SandboxAnswer | undefined {
    if (signal?.aborted) return withdrawn;
    if (this.#offenders.has(agentId, authored(question))) return this.#timeout();
    if (budget.sandboxMsLeft <= 0) {
      return { state: "unavailable", reason: { code: "sandbox_run_budget", data: { ms: sandboxMsMax } } };
    }
    if (!this.#agents.isSpent(agentId)) return undefined;
    const data = { ms: this.#agentMsPerMinute };
    return { state: "unavailable", reason: { code: "sandbox_agent_budget", data } };
  }

  async #answerBatch(jobs: Job[]): Promise<void> {
    const { agentId } = jobs[0]!;
    const owners = ownersOf(jobs[0]!);
    const result = await this.#ask(jobs.map(({ question }) => question));
    if (this.#closed) return;
    if (Array.isArray(result)) {
      for (const [at, { answer, ms }] of result.entries()) {
        this.#offenders.forgive(agentId, authored(jobs[at]!.question));
        this.#charge(jobs[at]!, ms);
        jobs[at]!.resolve(answer);
      }
      // The thread returns early when a batch is slow, so that each question keeps its whole time limit.
      this.#waiting.add(owners, jobs.slice(result.length), true);
    } else this.#endFailedBatch(jobs, result);
    if (!Array.isArray(result) || jobs.some(job => this.#isSpent(job))) this.#refuseQueued(owners);
  }

  /** The answers that the thread had given are lost with it; they took less than `batchMs` together. */
  #endFailedBatch(jobs: Job[], how: "timeout" | "broken" | "not started"): void {
    const culprit = jobs[Math.max(Atomics.load(this.#progress, 0), 0)]!;
    const others = jobs.filter(job => job !== culprit);
    if (how === "broken" && others.length > 0) others.unshift({ ...culprit, alone: true });
    else {
      if (how !== "not started") {
        this.#offenders.blame(culprit.agentId, authored(culprit.question));
        this.#charge(culprit, Math.min(performance.now() - this.#startedAt, this.#budgetMs));
      }
      culprit.resolve(how === "timeout" ? this.#timeout() : outOfMemory);
    }
    this.#waiting.add(ownersOf(culprit), others, true);
  }

  /** Answers the queued questions of an agent that will not be put to the thread any more. */
  #refuseQueued(owners: Owners): void {
    const refusals = new Map<Job, SandboxAnswer>();
    const refused = this.#waiting.remove(owners, job => {
      const refusal = this.#refusalOf(job);
      if (refusal) refusals.set(job, refusal);
      return refusal !== undefined;
    });
    for (const job of refused) job.resolve(refusals.get(job)!);
  }

  #isSpent({ agentId, budget }: Job): boolean {
    return budget.sandboxMsLeft <= 0 || this.#agents.isSpent(agentId);
  }

  #charge({ agentId, budget }: Job, ms: number): void {
    budget.sandboxMsLeft -= ms;
    this.#agents.charge(agentId, ms);
  }

  /** Answers to the first of these questions, at least one; or how the thread ended. */
  async #ask(questions: SandboxQuestion[]): Promise<TimedAnswer[] | "timeout" | "broken" | "not started"> {
    const kill = new AbortController();
    let [started, ended] = [false, false];
    let timer: NodeJS.Timeout;
    const limit = (ms: number) => {
      clearTimeout(timer);
      // If the calling thread was the busy one, the answer is there already: let it be read first.
      timer = setTimeout(() => setImmediate(() => kill.abort()), ms);
    };
    const start = () => {
      if (ended) return;
      started = true;
      this.#startedAt = performance.now();
      // The last question may begin when the others have used the time of the batch.
      limit(this.#budgetMs + (questions.length > 1 ? batchMs : 0));
    };
    const fail = () => kill.abort();
    this.#pool.once("error", fail);
    Atomics.store(this.#progress, 0, notStarted);
    limit(startMs);
    // A new thread loads its modules first, which takes a second on a busy machine.
    const begins = Atomics.waitAsync(this.#progress, 0, notStarted);
    if (begins.async) void begins.value.then(start);
    try {
      const batch: SandboxBatch = { questions, progress: this.#progress };
      return await this.#pool.run(batch, { signal: kill.signal });
    } catch {
      return !started ? "not started" : kill.signal.aborted ? "timeout" : "broken";
    } finally {
      ended = true;
      clearTimeout(timer!);
      Atomics.notify(this.#progress, 0);
      this.#pool.off("error", fail);
    }
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

const ownersOf = ({ accountId, agentId }: SandboxCaller): Owners => [accountId, agentId];

function textOf(question: SandboxQuestion): string {
  return question.kind === "schema" ? question.value : question.text;
}

function authored(question: SandboxQuestion): string {
  return question.kind === "schema" ? question.schema : `/${question.pattern}/${question.flags}`;
}
