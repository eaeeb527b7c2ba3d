// Answers questions from the cache, by joining in-flight duplicates, or by batched judge calls.
import { randomUUIDv7 } from "node:crypto";
import type { JudgeCall, JudgeLine, LineReply, MayGo } from "../model/judge/call.ts";
import type { JudgeContext, Spent } from "../model/judge/judge.ts";
import { costOf, priceOf } from "../model/judge/prices.ts";
import type { Clock } from "../remote/clock.ts";
import { type Database, isTransient } from "../store/db.ts";
import { findJudgeAnswers } from "../store/judge/answers.ts";
import { pauseJudge } from "../store/judge/states.ts";
import { budgetFault } from "./budget.ts";
import type { Connections, Reach } from "./connections.ts";
import { type Fault, faultOf } from "./faults.ts";
import type { QuestionKey } from "./keys.ts";
import type { Ledger } from "./ledger.ts";

/** `testIds`: one for everyone who wants it answered, who share what it costs. */
export type Question<A> = { key: QuestionKey; ask: A; testIds: string[] };

/** `spent`: each asker's share of the calls it took; null where none was made for this asker. */
export type Settled<V> = { state: "ok"; value: V; spent: Spent | null } | Fault;

/** How one kind of question is put. */
export type Kind<A, V> = {
  /** What goes into each call. */
  pack(questions: Question<A>[]): Question<A>[][];
  put(
    line: JudgeLine,
    questions: Question<A>[],
    signal?: AbortSignal,
    mayGo?: MayGo,
  ): Promise<LineReply<Map<QuestionKey, V>>>;
  /** Whether the answer may stand for the same question later. */
  isLasting(value: V): boolean;
};

export type Behalf = {
  context: JudgeContext;
  reach: Reach;
  /** Told of every call that is made for this asker; `costUsd` null: its price is not known. */
  onCall?: (call: JudgeCall, costUsd: number | null) => void;
};

export type Asking = {
  /** Every question is settled; the same one, wherever it comes from, is asked once. */
  settle<A, V>(
    kind: Kind<A, V>,
    questions: Question<A>[],
    behalf: Behalf,
    signal?: AbortSignal,
  ): Promise<Map<QuestionKey, Settled<V>>>;
};

export type AskingDeps = {
  db: Database;
  ledger: Ledger;
  connections: Pick<Connections, "forget">;
  clock: Pick<Clock, "now">;
  onCall?: ((call: JudgeCall) => void) | undefined;
};

export function openAsking({ db, ledger, connections, clock, onCall }: AskingDeps): Asking {
  /** What is being asked now, by anybody in this process. */
  const underWay = new Map<QuestionKey, Promise<Settled<unknown>>>();
  const passing = openPassing(clock);

  async function settle<A, V>(kind: Kind<A, V>, asked: Question<A>[], behalf: Behalf, signal?: AbortSignal) {
    const settled = new Map<QuestionKey, Settled<V>>();
    let open = merged(asked);
    while (open.length > 0) {
      const others = open.filter(({ key }) => underWay.has(key));
      const own = open.filter(({ key }) => !underWay.has(key));
      const along = Promise.all(
        others.map(async question => {
          const answer = (await orAborted(underWay.get(question.key)!, signal)) as Settled<V>;
          return { question, answer };
        }),
      );
      // Begun before anything is waited for: two that ask some of the same wait for each other's alone.
      const [mine, theirs] = await Promise.all([lead(kind, own, behalf, signal), along]);
      for (const [key, answer] of mine) settled.set(key, answer);
      open = [];
      for (const { question, answer } of theirs) {
        if (answer.state === "ok") settled.set(question.key, { ...answer, spent: null });
        else if (isTheirsAlone(answer) && !signal?.aborted) open.push(question);
        else settled.set(question.key, answer);
      }
    }
    return settled;
  }

  /** Asks, and lets whoever wants the same meanwhile wait along. */
  async function lead<A, V>(
    kind: Kind<A, V>,
    questions: Question<A>[],
    behalf: Behalf,
    signal?: AbortSignal,
  ) {
    const promised = questions.map(({ key }) => {
      const promise = Promise.withResolvers<Settled<unknown>>();
      underWay.set(key, promise.promise);
      return { key, promise };
    });
    let settled = new Map<QuestionKey, Settled<V>>();
    try {
      settled = await answered(kind, questions, behalf, signal);
    } catch (error) {
      if (!isTransient(error)) throw error;
      for (const { key } of questions) settled.set(key, noDatabase);
    } finally {
      for (const { key, promise } of promised) {
        underWay.delete(key);
        promise.resolve(settled.get(key) ?? withdrawn);
      }
    }
    return settled;
  }

  async function answered<A, V>(
    kind: Kind<A, V>,
    questions: Question<A>[],
    behalf: Behalf,
    signal?: AbortSignal,
  ) {
    const settled = new Map<QuestionKey, Settled<V>>();
    if (questions.length === 0) return settled;
    const { agentId, tries } = behalf.context;
    const known = await findJudgeAnswers(
      db,
      questions.map(({ key }) => key),
    );
    // Who comes back asks again for what was answered the first time.
    if (tries === 0) ledger.countCached(agentId, known.size);
    for (const { key } of questions) {
      const answer = known.get(key);
      const earlier = passing.of(behalf.context, key) as Settled<V> | undefined;
      if (answer !== undefined)
        settled.set(key, { state: "ok", value: JSON.parse(answer) as V, spent: null });
      else if (earlier) settled.set(key, earlier.state === "ok" ? { ...earlier, spent: null } : earlier);
    }
    // What an answer leaves out is asked for once more, all of it together.
    let open = questions.filter(({ key }) => !settled.has(key));
    for (let round = 1; round <= 2; round++) {
      const calls = kind.pack(open).map(pack => put(kind, pack, behalf, signal));
      for (const answers of await Promise.all(calls)) {
        for (const [key, answer] of answers) settled.set(key, answer);
      }
      open = open.filter(({ key }) => settled.get(key) === unsaid);
    }
    const isPassing = (answer: Settled<V>) =>
      answer.state === "ok" ? !kind.isLasting(answer.value) : answer.state === "unusable";
    passing.remember(behalf.context, new Map([...settled].filter(([, answer]) => isPassing(answer))));
    return settled;
  }

  /** One call, if one may be made now. Of what it leaves out, `unsaid` is said. */
  async function put<A, V>(kind: Kind<A, V>, pack: Question<A>[], behalf: Behalf, signal?: AbortSignal) {
    const { context, reach } = behalf;
    const left = (why: Fault) => new Map(pack.map(({ key }): [QuestionKey, Settled<V>] => [key, why]));
    const overBudget = () => budgetFault(db, context.agentId, reach.settings);
    const fault = crowded(behalf) ?? (await overBudget());
    if (fault) return left(fault);
    // One whose deadline has passed before it asks, as after a long stop, is asked about all the same, once.
    const { deadlineAt } = context;
    const startBy = deadlineAt !== null && clock.now() < deadlineAt ? deadlineAt : Number.POSITIVE_INFINITY;
    // Looked at once it is this call's turn: those before it in the line have taken their time and spent their part.
    let late = undefined as Fault | undefined;
    const mayGo = async () => {
      late = clock.now() < startBy ? await overBudget() : outOfTime;
      return late === undefined;
    };
    const reply = await kind.put(reach.line, pack, signal, mayGo);
    if (late) return left(late);
    const settled = new Map<QuestionKey, Settled<V>>();
    const values = reply.state === "ok" ? reply.value : new Map<QuestionKey, V>();
    if (reply.call) await keep(kind, pack, values, reply.call, behalf);
    if (reply.state === "refused" && reply.call) {
      await pauseJudge(db, reach.judge.fingerprint, reply.reason);
      connections.forget();
    }
    for (const { key, testIds } of pack) {
      const value = values.get(key);
      if (reply.state !== "ok") settled.set(key, faultOf(reply));
      else if (value === undefined) settled.set(key, unsaid);
      else settled.set(key, { state: "ok", value, spent: shareOf(reply.call, pack.length * testIds.length) });
    }
    return settled;
  }

  async function keep<A, V>(
    kind: Kind<A, V>,
    pack: Question<A>[],
    values: Map<QuestionKey, V>,
    call: JudgeCall,
    { context: { agentId, traceId, runId }, reach: { projectId, prices }, onCall: tell }: Behalf,
  ): Promise<void> {
    onCall?.(call);
    const price = priceOf(prices, call, new Date(call.startedAt).toISOString().slice(0, 10));
    const shares = new Map<string, number>();
    for (const { testIds } of pack) {
      for (const testId of testIds) {
        shares.set(testId, (shares.get(testId) ?? 0) + 1 / pack.length / testIds.length);
      }
    }
    const answers = new Map<QuestionKey, string>();
    for (const [key, value] of values) if (kind.isLasting(value)) answers.set(key, JSON.stringify(value));
    const costUsd = price ? costOf(price, call) : null;
    tell?.(call, costUsd);
    const id = randomUUIDv7();
    await ledger.keep({ id, agentId, projectId, traceId, runId, call, costUsd, shares, answers });
  }

  return { settle };
}

const withdrawn: Fault = { state: "aborted", reason: "It was not asked: the question was withdrawn." };
const noDatabase: Fault = {
  state: "busy",
  reason: "The judge was not asked: the service's database is away.",
};
const outOfTime: Fault = {
  state: "later",
  reason: "It was busy with other conversations until the deadline.",
  unasked: true,
};
const unsaid: Fault = { state: "unusable", reason: "It left the question out of its answer, twice." };

/** So many wait for a place already that one more only keeps a run in hand. Who watches is let in. */
function crowded({ context, reach }: Behalf): Fault | undefined {
  const { line, judge } = reach;
  if (context.deadlineAt === null || line.queued <= Math.max(16, 4 * judge.connection.concurrency))
    return undefined;
  return { state: "busy", reason: "The judge is busy: other conversations are judged first." };
}

/** What befell the other asker for reasons of its own. */
function isTheirsAlone({ state }: Fault): boolean {
  return state === "aborted" || state === "spent" || state === "busy";
}

function merged<A>(questions: Question<A>[]): Question<A>[] {
  const byKey = new Map<QuestionKey, Question<A>>();
  for (const question of questions) {
    const known = byKey.get(question.key);
    byKey.set(
      question.key,
      known ? { ...known, testIds: [...known.testIds, ...question.testIds] } : question,
    );
  }
  return [...byKey.values()];
}

function shareOf(call: JudgeCall | null, parts: number): Spent {
  const { ms = 0, inputTokens = 0, outputTokens = 0 } = call ?? {};
  return { ms, inputTokens: inputTokens / parts, outputTokens: outputTokens / parts };
}

async function orAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T | Fault> {
  if (!signal) return promise;
  if (signal.aborted) return withdrawn;
  const gone = Promise.withResolvers<Fault>();
  const abort = () => gone.resolve(withdrawn);
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([promise, gone.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

/** Answers that stand for their run alone, so that one which comes back does not ask the same again. */
function openPassing(clock: Pick<Clock, "now">) {
  const byRun = new Map<string, { until: number; answers: Map<QuestionKey, Settled<unknown>> }>();
  return {
    of: ({ runId }: JudgeContext, key: QuestionKey) =>
      runId === null ? undefined : byRun.get(runId)?.answers.get(key),
    remember({ runId, deadlineAt }: JudgeContext, settled: Map<QuestionKey, Settled<unknown>>): void {
      if (runId === null || deadlineAt === null || settled.size === 0) return;
      for (const [id, { until }] of byRun) if (until < clock.now()) byRun.delete(id);
      const known = byRun.get(runId)?.answers ?? [];
      byRun.set(runId, { until: deadlineAt, answers: new Map([...known, ...settled]) });
    },
  };
}
