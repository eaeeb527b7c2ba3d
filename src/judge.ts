// Story 3, a judge is asked: admit -> answer from the cache or join a call in flight -> batch -> bound -> call -> check
// the answer -> keep it.

import type { Logger } from "pino";
import { admit, admitWith, databaseUnavailable, type JudgeAccess, notSampled } from "./judge/admission.ts";
import { type CallDeps, callJudge } from "./judge/calls.ts";
import { findClasses } from "./judge/classes.ts";
import { type ConnectionDeps, Connections } from "./judge/connections.ts";
import { judgeReplies } from "./judge/criteria.ts";
import type { QuestionKey } from "./judge/keys.ts";
import { Ledger } from "./judge/ledger.ts";
import {
  type Answered,
  type Answering,
  type Answers,
  type Asker,
  allOf,
  merged,
  type Question,
  type QuestionKind,
} from "./judge/question.ts";
import { backoff, withRetry } from "./judge/retry.ts";
import { RunAnswers } from "./judge/run-answers.ts";
import { estimateScenarios, matchScenarios } from "./judge/scenarios.ts";
import { explained, routeExplained, routingAsShown, ShownQuestions } from "./judge/withheld.ts";
import type { JudgeCall, JudgeConnection } from "./model/judge/call.ts";
import type { Judge, JudgeContext, JudgeOf, RoutingAnswer, SemanticAnswer } from "./model/judge/judge.ts";
import { cancelled, isWaiting, type Unanswered, unanswered } from "./model/judge/outcome.ts";
import { judgePolicyOf } from "./redaction/of-project.ts";
import { type Clock, systemClock } from "./remote/clock.ts";
import { isTransient } from "./store/db.ts";
import { findJudgeAnswers } from "./store/judge/answers.ts";

export type JudgesDeps = Omit<ConnectionDeps, "clock"> & {
  log: Pick<Logger, "error" | "warn">;
  onCall?: (call: JudgeCall) => void;
  clock?: Clock;
};

/** The judges of all agents, for one thread. */
export class Judges implements Answering {
  readonly clock: Clock;
  readonly #deps: JudgesDeps;
  readonly #connections: Connections;
  readonly #ledger: Ledger;
  readonly #inFlight = new Map<QuestionKey, Promise<Answered<unknown>>>();
  readonly #runAnswers: RunAnswers;
  readonly #callDeps: CallDeps;

  constructor(deps: JudgesDeps) {
    this.clock = deps.clock ?? systemClock;
    this.#deps = deps;
    this.#connections = new Connections({ ...deps, clock: this.clock });
    this.#ledger = new Ledger(deps.db, deps.log);
    this.#runAnswers = new RunAnswers(this.clock);
    this.#callDeps = {
      db: deps.db,
      clock: this.clock,
      connections: this.#connections,
      ledger: this.#ledger,
      onCall: deps.onCall,
    };
  }

  readonly judgeOf: JudgeOf = context =>
    this.#judge(context, () => admit(context.agentId, this.#connections));

  /** Asks this connection, which need not be saved, in place of the project's. */
  readonly judgeWith =
    (connection: JudgeConnection): JudgeOf =>
    context =>
      this.#judge(context, () => admitWith(context.agentId, connection, this.#connections, this.#deps.db));

  readonly #judge = (context: JudgeContext, admit: () => Promise<JudgeAccess | Unanswered>): Judge => ({
    route: async (question, signal) => {
      const access = await this.#admit(context, admit);
      if ("code" in access) return access;
      const shown = routingAsShown(question, judgePolicyOf(access.privacy));
      const answer = await matchScenarios(this, shown, { context, access }, signal);
      const current = await this.#withCurrentJudge([answer], context, access);
      return routeExplained(current[0]!, question, shown);
    },
    estimateRoute: async question => {
      const access = await this.#admit(context, admit);
      if ("code" in access) return access;
      const shown = routingAsShown(question, judgePolicyOf(access.privacy));
      return estimateScenarios(this.#deps.db, this.clock, shown, { context, access });
    },
    knownClasses: async criteria => {
      const access = await this.#admit(context, admit);
      return "code" in access ? [] : findClasses(this.#deps.db, { context, access }, criteria);
    },
    ask: async (questions, signal) => {
      const access = await this.#admit(context, admit);
      const denied = "code" in access ? access : notSampled(context, access);
      if ("code" in access || denied) return questions.map(() => denied!);
      const policy = new ShownQuestions(judgePolicyOf(access.privacy));
      const shown = questions.map(question => policy.of(question));
      const answers = await judgeReplies(this, shown, { context, access }, signal);
      const current = await this.#withCurrentJudge(answers, context, access);
      return current.map((answer, at) => explained(answer, questions[at]!, shown[at]!));
    },
  });

  /** Writes pending calls. */
  close(): Promise<void> {
    return this.#ledger.close();
  }

  async #admit(
    context: JudgeContext,
    admit: () => Promise<JudgeAccess | Unanswered>,
  ): Promise<JudgeAccess | Unanswered> {
    const access = await admit();
    return "code" in access ? withRetry(access, context, this.clock) : access;
  }

  /** Every question gets an outcome. Askers of the same question share one call. */
  async answer<Q, V>(
    kind: QuestionKind<Q, V>,
    questions: Question<Q>[],
    asker: Asker,
    signal?: AbortSignal,
  ): Promise<Answers<V>> {
    const answers: Answers<V> = new Map();
    for (let open = merged(questions); open.length > 0; ) {
      const { joined = [], own = [] } = Object.groupBy(open, ({ key }) =>
        this.#inFlight.has(key) ? "joined" : "own",
      );
      const pending = joined.map(({ key }) => orCancelled(this.#inFlight.get(key)!, signal));
      // Started before waiting for others: two askers with questions in common wait only for those.
      const [mine, theirs] = await Promise.all([
        this.#lead(kind, own, asker, signal),
        Promise.all(pending) as Promise<Answered<V>[]>,
      ]);
      for (const [key, answer] of mine) answers.set(key, answer);
      for (const [at, { key }] of joined.entries()) {
        const answer = theirs[at]!;
        answers.set(key, answer.code === "ok" ? { ...answer, spent: null } : answer);
      }
      open = signal?.aborted ? [] : joined.filter((_, at) => concernsOnlyItsAsker(theirs[at]!));
    }
    return answers;
  }

  /** Answers the questions, and lets others who ask the same join. */
  async #lead<Q, V>(
    kind: QuestionKind<Q, V>,
    questions: Question<Q>[],
    asker: Asker,
    signal?: AbortSignal,
  ): Promise<Answers<V>> {
    let answers: Answers<V> = new Map();
    if (questions.length === 0) return answers;
    const { promise, resolve } = Promise.withResolvers<Answers<unknown>>();
    for (const { key } of questions) {
      this.#inFlight.set(
        key,
        promise.then(answers => answers.get(key) ?? cancelled),
      );
    }
    try {
      answers = await this.#lookUpOrCall(kind, questions, asker, signal);
    } catch (error) {
      if (!isTransient(error)) throw error;
      answers = allOf(questions, databaseUnavailable);
    } finally {
      for (const { key } of questions) this.#inFlight.delete(key);
      resolve(answers);
    }
    return answers;
  }

  async #lookUpOrCall<Q, V>(
    kind: QuestionKind<Q, V>,
    questions: Question<Q>[],
    asker: Asker,
    signal?: AbortSignal,
  ): Promise<Answers<V>> {
    const { context } = asker;
    const answers: Answers<V> = new Map();
    const keys = questions.map(({ key }) => key);
    const cached = await findJudgeAnswers(this.#deps.db, context.agentId, keys);
    // A resumed run asks again for answers that it already had.
    if (context.tries === 0 && !context.cachedOnly) this.#ledger.countCached(context.agentId, cached.size);
    for (const key of keys) {
      const text = cached.get(key);
      if (text !== undefined) answers.set(key, { code: "ok", value: JSON.parse(text) as V, spent: null });
      else {
        const earlier = this.#runAnswers.find<V>(context, key);
        if (earlier) answers.set(key, earlier);
      }
    }
    // Questions that the judge leaves out, or answers in another shape, are asked once more, all together.
    let open = questions.filter(({ key }) => !answers.has(key));
    for (let round = 1; round <= 2; round++) {
      const calls = kind.batches(open).map(batch => callJudge(this.#callDeps, kind, batch, asker, signal));
      for (const [key, answer] of (await Promise.all(calls)).flatMap(found => [...found])) {
        answers.set(key, answer);
      }
      open = open.filter(({ key }) => isWorthAsking(answers.get(key)!));
    }
    this.#runAnswers.keep(context, answers, kind);
    return answers;
  }

  /** If the connection was edited while we waited, drops its retry delay. */
  async #withCurrentJudge<A extends RoutingAnswer | SemanticAnswer>(
    answers: A[],
    { agentId }: JudgeContext,
    access: JudgeAccess,
  ): Promise<(A | Unanswered)[]> {
    if (!answers.some(isWaiting)) return answers;
    const current = await this.#connections.find(agentId).catch(() => undefined);
    if (!current || current.judge?.fingerprint.equals(access.judge.fingerprint)) return answers;
    const changed = { code: "judge_connection_changed" } as const;
    const soon = unanswered("later", changed, this.clock.now() + backoff.busyMs);
    return answers.map(answer => (isWaiting(answer) ? { ...answer, ...soon } : answer));
  }
}

function isWorthAsking(answer: Answered<unknown>): boolean {
  if (answer.code !== "unusable") return false;
  return ["judge_question_skipped", "judge_answer_malformed", "judge_echo_wrong"].includes(
    answer.detail.code,
  );
}

/** Whether another asker of the same question must not get this outcome: cancelled, over budget, too busy, or cache only. */
function concernsOnlyItsAsker(answer: Answered<unknown>): boolean {
  if (answer.code === "ok") return false;
  const reasons: string[] = [
    "judge_budget_spent",
    "judge_account_budget_spent",
    "judge_busy",
    "judge_database_unavailable",
    "judge_not_asked",
  ];
  return answer.code === "aborted" || reasons.includes(answer.detail.code);
}

async function orCancelled<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T | Unanswered> {
  if (!signal) return promise;
  if (signal.aborted) return cancelled;
  const { promise: aborted, resolve } = Promise.withResolvers<Unanswered>();
  const abort = () => resolve(cancelled);
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
