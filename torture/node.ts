// A node: one process of the service, which is killed and started again, with a proxy before each PostgreSQL server.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type ServiceProcess, startProcess } from "../test/flow/processes.ts";
import { type Point, PostgresProxy } from "./postgres-proxy.ts";

const pointMs = 3_000;

export class Node {
  readonly name: string;
  readonly #proxies: PostgresProxy[];
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

  private constructor(name: string, proxies: PostgresProxy[], env: Record<string, string>) {
    this.name = name;
    this.#proxies = proxies;
    this.#env = env;
    this.#dataDir = mkdtempSync(join(tmpdir(), "onlooker-torture-node-"));
  }

  static async start(name: string, databaseUrl: string, env: Record<string, string>): Promise<Node> {
    const [, before, hosts, after] = /^(.*@)([^/]+)(.*)$/.exec(databaseUrl)!;
    const targets = hosts!.split(",").map(host => new URL(`tcp://${host}`));
    const proxies = await Promise.all(
      targets.map(({ hostname, port }) => PostgresProxy.open({ host: hostname, port: Number(port) })),
    );
    const proxied = proxies.map(({ port }) => `127.0.0.1:${port}`).join(",");
    const node = new Node(name, proxies, { ...env, DATABASE_URL: `${before}${proxied}${after}` });
    node.#running = node.#keepRunning();
    await node.#started();
    return node;
  }

  /** Undefined while it is down. */
  get url(): string | undefined {
    return this.#process?.url;
  }

  /** The variables of its next processes besides its own, such as for another clock. */
  #more: Record<string, string> = {};

  kill(): void {
    this.#isKilled = true;
    this.#process?.kill("SIGKILL");
  }

  /** Breaks its connections to PostgreSQL. */
  cut(): void {
    for (const proxy of this.#proxies) proxy.cut();
  }

  /** Its connections to PostgreSQL stay, and nothing gets through. */
  stall(): void {
    for (const proxy of this.#proxies) proxy.stall();
  }

  resume(): void {
    for (const proxy of this.#proxies) proxy.resume();
  }

  /** Breaks the connection that gets to the point, after `act`. False if none did in time. */
  async reaches(point: Point, act: () => void = () => {}): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    for (const proxy of this.#proxies) {
      proxy.waitFor(point, () => {
        act();
        resolve(true);
      });
    }
    const timeout = delay(pointMs, false, { ref: false });
    const isReached = await Promise.race([promise, timeout]);
    for (const proxy of this.#proxies) proxy.stopWaiting();
    return isReached;
  }

  /** Its next processes have these variables besides its own. */
  restartWith(variables: Record<string, string>): void {
    this.#more = variables;
    this.kill();
  }

  /** Ends its process, with another clock or not, and waits for one with its own. */
  async restart(): Promise<void> {
    await this.#restart({});
  }

  /** Its next process has these variables besides its own, for this time; those after it do not. */
  async runOnce(variables: Record<string, string>, ms: number): Promise<void> {
    await this.#restart(variables);
    await delay(ms);
    this.restartWith({});
  }

  async #restart(variables: Record<string, string>): Promise<void> {
    const before = this.#process;
    this.restartWith(variables);
    await this.#started(before);
  }

  /** Resolves once a process runs that is another one than `before`. */
  async #started(before?: ServiceProcess): Promise<void> {
    while (!this.#process || this.#process === before) await delay(50);
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#process?.kill("SIGTERM");
    await this.#running;
    for (const proxy of this.#proxies) await proxy.close();
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
      // While PostgreSQL is down a node may end with a clear error, as a supervisor expects.
      await this.#startProcess(this.#more).catch(() => delay(200));
    }
    // It was being started when it was stopped.
    this.#process?.kill("SIGTERM");
    await this.#process?.exited;
  }
}
