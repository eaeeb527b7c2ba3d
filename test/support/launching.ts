// Sets up tests of manual runs: a launcher over its own database, and local servers that play agents.

import assert from "node:assert/strict";
import pino from "pino";
import { Launcher, type LauncherDeps } from "../../src/launcher.ts";
import type { Judge, SemanticAnswer } from "../../src/model/judge/judge.ts";
import { Refusal } from "../../src/model/refusal.ts";
import type { TestCase } from "../../src/model/test-case/document.ts";
import { systemClock } from "../../src/remote/clock.ts";
import { Sandbox } from "../../src/remote/sandbox/sandbox.ts";
import type { Database } from "../../src/store/db.ts";
import { EventPublisher } from "../../src/store/events.ts";
import { decodeDetail } from "../../src/store/runs/detail.ts";
import { listRunsOfLaunch } from "../../src/store/runs/launched-runs.ts";
import { findLaunch, insertLaunch } from "../../src/store/runs/launches.ts";
import { listTurns } from "../../src/store/runs/turns.ts";
import { limits, openTwice, runnable } from "../store/traces/make-write.ts";
import { eventually } from "./eventually.ts";
import { startAgent } from "./played-agent.ts";

const unasked = () => assert.fail("nothing is asked of the judge");
export const unaskedJudge: Judge = { route: unasked, ask: async () => unasked() as SemanticAnswer[] };

/** `close` ends everything that was started. */
export async function openLaunching() {
  const { url, db, other, close } = await openTwice();
  const sandbox = new Sandbox({ budgetMs: 5_000 });
  const closing: (() => Promise<unknown>)[] = [];
  const launchers = new Set<Launcher>();

  async function agentOf(answer: Parameters<typeof startAgent>[0]) {
    const agent = await startAgent(answer);
    closing.push(() => agent.close());
    return agent;
  }

  /** A launcher that calls `agent`; it is stopped after the tests at the latest. */
  function startLauncher(
    agent: Pick<LauncherDeps, "call">,
    {
      waitMs = 0,
      concurrency = 2,
      debounceMs = 100,
      traceBytesMax = limits.traceBytesMax,
      callable = true,
      judge = unaskedJudge,
      log = pino({ level: "silent" }),
      over = other,
      now = Date.now,
    }: {
      waitMs?: number;
      concurrency?: number;
      debounceMs?: number;
      traceBytesMax?: number;
      callable?: boolean;
      judge?: Judge;
      log?: LauncherDeps["log"];
      over?: Database;
      now?: () => number;
    } = {},
  ) {
    const events = new EventPublisher(over);
    const launcher = new Launcher({
      db: over,
      sandbox,
      judgeOf: () => judge,
      judgeDeadlineMs: 0,
      events,
      leaseMs: 30_000,
      debounceMs,
      traceBytesMax,
      log,
      clock: { ...systemClock, now },
      call: agent.call,
      storingOf: async () => ({ revision: 0, storing: null }),
      async boundsOf() {
        if (callable) return { waitMs, concurrency };
        throw new Refusal("CONFLICT", { message: "This agent has no connection.", hint: "Make one." });
      },
    });
    launchers.add(launcher);
    let stopped: Promise<void> | undefined;
    const stop = (graceMs = 0) => {
      launchers.delete(launcher);
      stopped ??= launcher.stop(graceMs).then(() => events.close());
      return stopped;
    };
    closing.push(() => stop());
    return { launcher, stop };
  }

  /** Wakes the launchers as the service does: without that, each looks for runs once a second. */
  async function launch(agentId: string, ...tests: TestCase[]): Promise<string> {
    const { id } = await insertLaunch(db, {
      agentId,
      createdBy: "nobody",
      source: "api",
      tests: runnable(tests),
    });
    for (const launcher of launchers) launcher.wake();
    return id;
  }

  /** The launch's runs with their turns, once the launch has ended. */
  async function ended(launchId: string) {
    const end = await eventually(async () => {
      const found = await findLaunch(db, launchId);
      assert.ok(found?.finishedAt, `the launch is ${found?.state}`);
      return found;
    });
    const runs = await listRunsOfLaunch(db, launchId);
    const turns = await listTurns(
      db,
      runs.map(run => run.id),
    );
    return {
      state: end.state,
      counts: end.counts,
      runs: runs.map(run => ({
        ...run,
        turns: turns.get(run.id) ?? [],
        checks: decodeDetail(run.detail).results.flatMap(result => result.checks),
      })),
    };
  }

  return {
    url,
    db,
    other,
    agentOf,
    startLauncher,
    launch,
    ended,
    async close() {
      for (const end of closing.reverse()) await end();
      await sandbox.close();
      await close();
    },
  };
}
