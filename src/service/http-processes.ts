// Starts, watches, replaces and stops the processes that serve HTTP on one port. The process that leads runs this.

import cluster, { type Worker } from "node:cluster";
import { fileURLToPath } from "node:url";
import type { Logger } from "pino";
import { OwnLinks } from "../http/frame/machine.ts";
import { countsOf, type Measured, metrics } from "../http/health.ts";
import { LentPermits, OwnPermits, type PermitMessage } from "../threads/named-permits.ts";
import { codeOnDisk, otherCode } from "./code.ts";
import { HandedConnections } from "./handed-connections.ts";
import type { HttpProcessSettings, StartFailure } from "./http-process.ts";
import type { Wakes } from "./http-server.ts";
import { aliveEveryMs } from "./led.ts";
import { Peer } from "./peer.ts";

export type HttpProcessesOptions = Omit<HttpProcessSettings, "number" | "code"> & {
  log: Logger;
  /** Called when an HTTP process has new work for them. */
  wakes: Wakes;
  /** The metrics of all processes as text. */
  metrics: () => Promise<string>;
  /** Called when the last one has ended and none may replace it. */
  onNoneLeft: (reason: string) => void;
};

type Child = {
  number: number;
  worker: Worker;
  peer: Peer;
  permits: LentPermits;
  servingSince: number | undefined;
  /** What it counted, as it said last. */
  measured: Measured;
  /** Times in a row that it did not say that it is alive. */
  silent: number;
  /** Whether it refused to serve because it was started from other files. */
  isOther: boolean;
};

// A process that ended soon after its start is replaced after twice as long, up to the second figure.
const replaceMs = 250;
const replaceMaxMs = 30_000;
const stableMs = 60_000;
// An event loop that answers nothing for 20 s is hanging: the longest work on it takes some hundred ms. It is killed when it would
// be asked for the third time, so after 20 to 30 s. Until a process has loaded its code it answers nothing either, which takes a
// second of CPU time, and longer than 20 s on a machine that has none.
const silentMax = { loading: 12, serving: 2 };
/** How long a process may take to stop: its requests have 8 s. */
const stopMs = 16_000;
const measuredWithinMs = 1_000;

export class HttpProcesses {
  readonly #options: HttpProcessesOptions;
  readonly #code = codeOnDisk();
  readonly #permits = new OwnPermits();
  readonly #links = new OwnLinks();
  readonly #handed = new HandedConnections();
  readonly #children = new Map<number, Child>();
  readonly #pauses = new Map<number, { ms: number; timer: NodeJS.Timeout }>();
  readonly #starting = new Map<number, { resolve: (url: string) => void; reject: (error: Error) => void }>();
  /** Numbers of processes that are not replaced. */
  readonly #left = new Set<number>();
  #watch: NodeJS.Timeout | undefined;
  #stopping: Promise<unknown> | undefined;
  /** Once known: with any free port, a process that starts after all have ended takes the same one. */
  #port: number | undefined;
  /** Counted by processes that have ended; each is added after the one before. */
  #ended: Promise<Measured> = Promise.resolve([]);

  constructor(options: HttpProcessesOptions) {
    this.#options = options;
  }

  /** Resolves to the URL on this machine when all are listening. Rejects with what kept the first from starting. */
  async start(): Promise<string> {
    cluster.schedulingPolicy = cluster.SCHED_RR;
    cluster.setupPrimary({ exec: fileURLToPath(new URL("./http-process.ts", import.meta.url)), args: [] });
    const { processes } = this.#options.layout;
    const urls = Array.from({ length: processes }, (_, index) => {
      const { promise, ...ends } = Promise.withResolvers<string>();
      this.#starting.set(index + 1, ends);
      this.#fork(index + 1);
      return promise;
    });
    this.#watch = setInterval(() => this.#checkAlive(), aliveEveryMs);
    const [url] = await Promise.all(urls);
    return url!;
  }

  /** Lets requests finish, and ends the processes; then `start` rejects if it waits. Further calls return when the first one does. */
  async stop(): Promise<void> {
    this.#stopping ??= this.#stopAll();
    await this.#stopping;
  }

  /** What each process counted, and those that have ended. */
  async measure(): Promise<Measured[]> {
    await Promise.all([...this.#children.values()].map(child => this.#measure(child)));
    // At one moment: one that has ended meanwhile is among those that have, and counts once.
    const running = [...this.#children.values()].map(({ measured }) => measured);
    return [await this.#ended, ...running];
  }

  async #measure(child: Child): Promise<void> {
    const { promise: late, resolve } = Promise.withResolvers<undefined>();
    const timer = setTimeout(() => resolve(undefined), measuredWithinMs);
    const asked = child.peer.call<Measured>("measure").catch(() => undefined);
    const measured = await Promise.race([asked, late]);
    clearTimeout(timer);
    if (measured && this.#children.get(child.number) === child) child.measured = measured;
  }

  #fork(number: number): void {
    const worker = cluster.fork();
    this.#handed.watch(worker);
    const permits = new LentPermits(this.#permits);
    const child: Child = {
      number,
      worker,
      permits,
      peer: new Peer((message, onError) => void worker.send(message, onError), {
        settings: () => this.#settingsOf(number),
        serving: ({ url }: { url: string }) => this.#isServing(child, url),
        failed: (failure: StartFailure) => this.#hasFailed(child, failure),
        permit: (message: PermitMessage) => permits.receive(message),
        keepLink: ({ accountId, link }) => this.#links.keep(accountId, link),
        findLink: (accountId: string) => this.#links.find(accountId),
        wake: (name: keyof Wakes) => this.#options.wakes[name](),
        metrics: () => this.#options.metrics(),
        counted: (measured: Measured) => {
          child.measured = measured;
        },
      }),
      servingSince: undefined,
      measured: [],
      silent: 0,
      isOther: false,
    };
    this.#children.set(number, child);
    worker.on("error", error => {
      // It could not be created, such as beyond a limit of the system, so it never exits.
      if (worker.process.pid === undefined) this.#hasEnded(child, error.message);
      else this.#options.log.error({ process: number, err: error }, "HTTP process");
    });
    worker.on("message", message => child.peer.receive(message));
    worker.once("exit", (code, signal) => this.#hasEnded(child, signal ?? `exit code ${code}`));
  }

  #settingsOf(number: number): HttpProcessSettings {
    const { addresses, layout, config } = this.#options;
    const settings = { number, addresses, layout, config, code: this.#code };
    // Node shares the socket of processes that ask for the same port, 0 included. When all have ended, it is closed.
    const isShared = this.#serving() > 0;
    if (config.port !== 0 || isShared || this.#port === undefined) return settings;
    const baseUrl = `http://localhost:${this.#port}`;
    return { ...settings, config: { ...config, port: this.#port, baseUrl } };
  }

  #isServing(child: Child, url: string): void {
    this.#port = Number(new URL(url).port || 80);
    child.servingSince = performance.now();
    this.#count();
    const first = this.#starting.get(child.number);
    this.#starting.delete(child.number);
    const { pid } = child.worker.process;
    this.#options.log.debug(
      { process: child.number, processId: pid },
      `HTTP process ${child.number} is serving`,
    );
    if (first) first.resolve(url);
    else this.#options.log.info({ process: child.number }, `HTTP process ${child.number} is running again`);
  }

  #hasFailed(child: Child, { message, stack, code, port }: StartFailure): void {
    const { number } = child;
    const error = Object.assign(new Error(message), { stack, code, port });
    const first = this.#starting.get(number);
    if (first) first.reject(error);
    else if (code === otherCode) child.isOther = true;
    else this.#options.log.error({ process: number, err: error }, `HTTP process ${number} cannot start`);
  }

  #hasEnded(child: Child, how: string): void {
    const { number, servingSince, measured } = child;
    if (this.#children.get(number) !== child) return; // both an error and an exit were told
    child.peer.end();
    child.permits.releaseAll();
    this.#children.delete(number);
    this.#count();
    this.#ended = this.#ended.then(ended => countsOf([ended, measured]));
    const first = this.#starting.get(number);
    first?.reject(new Error(`HTTP process ${number} ended while it started (${how}).`));
    if (first || this.#stopping !== undefined) return;
    // Files that are missing or do not fit together end it before it can say so.
    if (child.isOther || (servingSince === undefined && this.#isReplaced())) {
      this.#leave(number);
      return;
    }
    metrics.httpProcessesEnded.inc();
    const wasStable = servingSince !== undefined && performance.now() - servingSince > stableMs;
    const lastMs = wasStable ? undefined : this.#pauses.get(number)?.ms;
    const ms = lastMs === undefined ? replaceMs : Math.min(2 * lastMs, replaceMaxMs);
    this.#pauses.set(number, { ms, timer: setTimeout(() => this.#fork(number), ms) });
    const message = `HTTP process ${number} ended (${how}); starting another in ${ms / 1000} s`;
    this.#options.log.error({ process: number }, message);
  }

  #isReplaced(): boolean {
    try {
      return codeOnDisk() !== this.#code;
    } catch {
      return true;
    }
  }

  /** Two versions never serve side by side: the others go on, and a restart by the operator, or by the last one, updates all. */
  #leave(number: number): void {
    this.#left.add(number);
    const serving = this.#serving();
    const reason = "The files of Onlooker have changed since it was started";
    const message = `${reason}: HTTP process ${number} is not replaced, ${serving} still serving. Restart Onlooker.`;
    this.#options.log.error({ process: number }, message);
    if (this.#left.size === this.#options.layout.processes) this.#options.onNoneLeft(reason);
  }

  #serving(): number {
    return [...this.#children.values()].filter(({ servingSince }) => servingSince !== undefined).length;
  }

  #count(): void {
    const serving = this.#serving();
    metrics.httpProcesses.set(serving);
    for (const { peer, servingSince } of this.#children.values())
      if (servingSince !== undefined) peer.tell("alive", serving);
  }

  #checkAlive(): void {
    for (const child of this.#children.values()) {
      const { number, servingSince } = child;
      if (child.silent++ >= silentMax[servingSince === undefined ? "loading" : "serving"]) {
        this.#options.log.error({ process: number }, `HTTP process ${number} hangs; killing it`);
        child.worker.process.kill("SIGKILL");
        continue;
      }
      child.peer.call("alive", this.#serving()).then(
        () => {
          child.silent = 0;
        },
        () => {},
      );
    }
  }

  async #stopAll(): Promise<void> {
    clearInterval(this.#watch);
    for (const { timer } of this.#pauses.values()) clearTimeout(timer);
    await Promise.all(
      [...this.#children.values()].map(async ({ worker, peer, servingSince }) => {
        if (worker.isDead()) return;
        const ended = new Promise(resolve => worker.once("exit", resolve));
        // Until it has loaded its code it hears nothing, for seconds on a busy machine, and it has no requests to finish.
        if (servingSince === undefined) worker.process.kill("SIGKILL");
        peer.tell("stop");
        const timer = setTimeout(() => worker.process.kill("SIGKILL"), stopMs);
        await ended;
        clearTimeout(timer);
      }),
    );
  }
}
