// Runs the service for npm run dev: again when a source changes, and after a crash when the next one changes.

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

/** A change of branch changes many files: one restart is enough. */
const quietMs = 100;

export class RestartingService {
  /** Resolves when the last start is over: the service is ready, or has ended. */
  ready: Promise<void> = Promise.resolve();
  readonly #env: NodeJS.ProcessEnv;
  #child: ChildProcess | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isStopped: boolean = false;

  constructor(env: NodeJS.ProcessEnv) {
    this.#env = env;
    this.ready = this.#start();
  }

  /** Soon, once for all changes of a moment. */
  restart(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.ready = this.ready.then(() => this.#startAgain());
    }, quietMs);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#end();
  }

  async #start(): Promise<void> {
    const child = fork(join(import.meta.dirname, "service.ts"), { env: this.#env, execArgv: [] });
    this.#child = child;
    const { promise, resolve } = Promise.withResolvers<void>();
    child.on("message", message => message === "ready" && resolve());
    child.once("exit", () => {
      resolve();
      if (this.#child !== child) return;
      this.#child = undefined;
      console.error("The service has ended. It starts again when a file in src changes.");
    });
    await promise;
  }

  async #startAgain(): Promise<void> {
    const since = performance.now();
    await this.#end();
    if (this.#isStopped) return;
    await this.#start();
    if (this.#child) console.log(`Service restarted in ${((performance.now() - since) / 1000).toFixed(1)} s`);
  }

  async #end(): Promise<void> {
    const child = this.#child;
    if (!child) return;
    this.#child = undefined;
    child.kill("SIGTERM");
    await once(child, "exit");
  }
}
