// What goes wrong, one fault after the other, chosen by the seed.
import { setTimeout as delay } from "node:timers/promises";
import type { Random } from "../fuzz/random.ts";
import type { Client } from "./client.ts";
import { clockLibrary } from "./clock-library.ts";
import type { Database } from "./database.ts";
import type { Disk } from "./disk.ts";
import { type Goals, progress, shares } from "./goals.ts";
import type { Ledger } from "./ledger.ts";
import type { Node } from "./node.ts";
import { points } from "./postgres-proxy.ts";
import { requestPoints } from "./requests.ts";

export const faults = [
  "kill",
  "kill-at-point",
  "kill-in-request",
  "kill-database",
  "fail-over",
  "cut",
  "cut-at-point",
  "stall",
  "fill-disk",
  "move-clock",
] as const;
export type Fault = (typeof faults)[number];

export type NemesisOptions = {
  nodes: Node[];
  database: Database;
  /** Where PostgreSQL keeps its data, if it can be filled. */
  disk: Disk | null;
  /** Sends the requests that are interrupted. */
  client: Client;
  random: Random;
  faults: readonly Fault[];
  goals: Goals;
  ledger: Ledger;
};

/** A process whose clock is further off than ten minutes stores nothing (src/store/clock.ts). */
const storingSeconds = 590;

/** With goals, faults come in groups that take them so much closer; then the clients catch up. */
const groupShare = 0.01;

/** Counts of what it did; points by their names. */
export type Deeds = Map<string, number>;

export class Nemesis {
  readonly #options: NemesisOptions;
  readonly deeds: Deeds = new Map();
  #isStopping = false;
  #isCalm = false;

  constructor(options: NemesisOptions) {
    this.#options = options;
  }

  /** Until it is stopped; then everything runs again. */
  async run(): Promise<void> {
    const { random } = this.#options;
    while (!this.#isStopping) {
      await delay(50 + random.below(700));
      if (this.#isResting()) continue;
      const node = await this.#runningNode();
      if (node) await this.#act(this.#choose(), node);
    }
  }

  stop(): void {
    this.#isStopping = true;
  }

  /**
   * Nodes that are killed while they start do little else. So after a group of faults it rests until the clients have come as
   * far, and what is left for them never happens without faults.
   */
  #isResting(): boolean {
    const { goals, ledger } = this.#options;
    const { faults, clients } = progress(goals, ledger, this.deeds);
    if (faults === undefined || clients === undefined || clients === 1) return false;
    if (clients >= faults) this.#isCalm = false;
    else if (faults >= clients + groupShare) this.#isCalm = true;
    return this.#isCalm;
  }

  #choose(): Fault {
    const { random, faults: chosen, goals, ledger } = this.#options;
    const likely = shares(chosen, goals, ledger, this.deeds);
    const sum = likely.reduce((total, share) => total + share, 0);
    let left = (random.below(2 ** 32) / 2 ** 32) * sum;
    const at = likely.findIndex(share => {
      left -= share;
      return left < 0;
    });
    return chosen.at(at)!;
  }

  /** Undefined if it is stopped first. */
  async #runningNode(): Promise<Node | undefined> {
    const { nodes, random } = this.#options;
    for (;;) {
      const running = nodes.filter(({ url }) => url !== undefined);
      if (this.#isStopping) return undefined;
      if (running.length > 0) return random.pick(running);
      await delay(50);
    }
  }

  #count(deed: string): void {
    this.deeds.set(deed, (this.deeds.get(deed) ?? 0) + 1);
  }

  async #act(fault: Fault, node: Node): Promise<void> {
    const { random, database, disk, client } = this.#options;
    const spellMs = 100 + random.below(2_500);
    switch (fault) {
      case "kill":
        node.kill();
        break;
      case "kill-at-point":
      case "cut-at-point": {
        const point = random.pick(points);
        const isKill = fault === "kill-at-point";
        if (!(await node.reaches(point, isKill ? () => node.kill() : undefined))) return;
        this.#count(`${isKill ? "killed" : "cut"} at: ${point.name}`);
        break;
      }
      case "kill-in-request": {
        const point = random.pick(requestPoints);
        if (!(await client.interrupt(node, point))) return;
        this.#count(`killed at: ${point}`);
        break;
      }
      case "kill-database":
        await database.crash(random);
        await delay(random.below(1_000));
        await database.resume();
        break;
      case "fail-over":
        if (!database.failOver) return;
        await database.failOver(random);
        break;
      case "cut":
        node.cut();
        break;
      case "stall":
        node.stall();
        await delay(spellMs);
        node.resume();
        break;
      case "fill-disk":
        if (!disk) return;
        disk.fill();
        await delay(spellMs);
        disk.empty();
        // PostgreSQL ends when it cannot write its log, and does not restart.
        await database.crash(random).catch(() => {}); // it may be down
        await database.resume();
        break;
      case "move-clock": {
        if (!clockLibrary) return;
        const most = random.below(2) === 0 ? storingSeconds : 3_600;
        const seconds = random.below(2 * most) - most;
        const clock = {
          LD_PRELOAD: clockLibrary,
          FAKETIME: `${seconds < 0 ? "" : "+"}${seconds}s`,
          FAKETIME_DONT_FAKE_MONOTONIC: "1",
        };
        // The clients of a race wait for their node, so it gets its clock back if it stores nothing by this one.
        if (Math.abs(seconds) > storingSeconds) await node.runOnce(clock, spellMs);
        else node.restartWith(clock);
        break;
      }
    }
    this.#count(fault);
  }
}
