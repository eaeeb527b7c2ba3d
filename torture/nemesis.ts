// What goes wrong, one fault after the other, chosen by the seed.
import { existsSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import type { Random } from "../fuzz/random.ts";
import type { Cluster } from "../test/support/cluster.ts";
import type { Disk } from "./disk.ts";
import type { Node } from "./node.ts";
import { points } from "./postgres-proxy.ts";

export const faults = [
  "kill",
  "kill-at-point",
  "kill-database",
  "cut",
  "stall",
  "fill-disk",
  "move-clock",
] as const;
export type Fault = (typeof faults)[number];

export type NemesisOptions = {
  nodes: Node[];
  cluster: Cluster;
  /** Where PostgreSQL keeps its data, if it can be filled. */
  disk: Disk | null;
  random: Random;
  faults: readonly Fault[];
};

const libraries = [
  "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1",
  "/usr/lib/faketime/libfaketime.so.1",
];

/** The library that moves the clock of one process, where it is installed. */
export const clockLibrary = libraries.find(existsSync);

/** Counts of what it did; points by their names. */
export type Deeds = Map<string, number>;

export class Nemesis {
  readonly #options: NemesisOptions;
  readonly deeds: Deeds = new Map();
  #isStopping = false;

  constructor(options: NemesisOptions) {
    this.#options = options;
  }

  /** Until it is stopped; then everything runs again. */
  async run(): Promise<void> {
    const { random, faults: chosen } = this.#options;
    while (!this.#isStopping) {
      await delay(50 + random.below(700));
      await this.#act(random.pick(chosen));
    }
  }

  stop(): void {
    this.#isStopping = true;
  }

  #count(deed: string): void {
    this.deeds.set(deed, (this.deeds.get(deed) ?? 0) + 1);
  }

  async #act(fault: Fault): Promise<void> {
    const { random, nodes, cluster, disk } = this.#options;
    const node = random.pick(nodes);
    const spellMs = 100 + random.below(2_500);
    switch (fault) {
      case "kill":
        node.kill();
        break;
      case "kill-at-point": {
        const point = random.pick(points);
        if (!(await node.killAt(point))) return;
        this.#count(`killed at: ${point.name}`);
        break;
      }
      case "kill-database":
        await cluster.crash();
        await delay(random.below(1_000));
        await cluster.resume();
        break;
      case "cut":
        node.proxy.cut();
        break;
      case "stall":
        node.proxy.stall();
        await delay(spellMs);
        node.proxy.resume();
        break;
      case "fill-disk":
        if (!disk) return;
        disk.fill();
        await delay(spellMs);
        disk.empty();
        // PostgreSQL ends when it cannot write its log, and does not come back by itself.
        await cluster.crash().catch(() => {}); // it may be down
        await cluster.resume();
        break;
      case "move-clock": {
        if (!clockLibrary) return;
        const seconds = random.below(7_200) - 3_600;
        node.next = {
          LD_PRELOAD: clockLibrary,
          FAKETIME: `${seconds < 0 ? "" : "+"}${seconds}s`,
          FAKETIME_DONT_FAKE_MONOTONIC: "1",
        };
        node.kill();
        break;
      }
    }
    this.#count(fault);
  }
}
