// A node: one process of the service, which is killed and started again, with a proxy before its PostgreSQL.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type ServiceProcess, startProcess } from "../test/flow/processes.ts";
import { type Point, PostgresProxy } from "./postgres-proxy.ts";

const killedMs = 3_000;

export class Node {
  readonly name: string;
  readonly proxy: PostgresProxy;
  readonly #env: Record<string, string>;
  readonly #dataDir: string;
  #process: ServiceProcess | undefined;
  #isStopping = false;
  #running: Promise<void> = Promise.resolve();
  /** Lines logged at the levels error and fatal. */
  readonly errors: string[] = [];
  /** How often it ended without having been killed. */
  crashes = 0;
  #isKilled = false;

  private constructor(name: string, proxy: PostgresProxy, env: Record<string, string>) {
    this.name = name;
    this.proxy = proxy;
    this.#env = env;
    this.#dataDir = mkdtempSync(join(tmpdir(), "onlooker-torture-node-"));
  }

  static async start(name: string, databaseUrl: string, env: Record<string, string>): Promise<Node> {
    const target = new URL(databaseUrl);
    const proxy = await PostgresProxy.open({ host: target.hostname, port: Number(target.port) });
    const proxied = new URL(databaseUrl);
    proxied.hostname = "127.0.0.1";
    proxied.port = String(proxy.port);
    const node = new Node(name, proxy, { ...env, DATABASE_URL: proxied.href });
    await node.#startProcess({});
    node.#running = node.#keepRunning();
    return node;
  }

  /** Undefined while it is down. */
  get url(): string | undefined {
    return this.#process?.url;
  }

  /** The variables of its next process besides its own, such as for another clock. */
  next: Record<string, string> = {};

  kill(): void {
    this.#isKilled = true;
    this.#process?.kill("SIGKILL");
  }

  /** Kills it when it gets to the point. False if that did not happen in time. */
  async killAt(point: Point): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.proxy.waitFor(point, () => {
      this.kill();
      resolve(true);
    });
    const timeout = delay(killedMs, false, { ref: false });
    const isKilled = await Promise.race([promise, timeout]);
    this.proxy.stopWaiting();
    return isKilled;
  }

  /** Ends its process, with another clock or not, and waits for one with its own. */
  async restart(): Promise<void> {
    this.next = {};
    const before = this.#process;
    this.kill();
    while (!this.#process || this.#process === before) await delay(50);
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#process?.kill("SIGTERM");
    await this.#running;
    await this.proxy.close();
    rmSync(this.#dataDir, { recursive: true, force: true });
  }

  async #startProcess(more: Record<string, string>): Promise<void> {
    const env = { ...this.#env, ...more, SVC_DATA_DIR: this.#dataDir };
    this.#process = await startProcess(env);
  }

  async #keepRunning(): Promise<void> {
    while (!this.#isStopping) {
      if (this.#process) {
        await this.#process.exited;
        this.errors.push(...this.#process.logs.filter(line => /"level":[56]0/.test(line)));
        this.#process = undefined;
        if (!this.#isKilled && !this.#isStopping) this.crashes++;
        this.#isKilled = false;
      }
      if (this.#isStopping) return;
      const { next } = this;
      // While PostgreSQL is down a node may end with a clear error, as a supervisor expects.
      await this.#startProcess(next).catch(() => delay(200));
    }
  }
}
