// A node-postgres client whose statements leave nothing in V8's old generation.
import pg from "pg";

/** What a statement that gets no answer in time fails with. */
export const readTimeout = "Query read timeout";

/** `answerMs`: how long a statement waits for its answer, in place of `query_timeout`, which leaves garbage. */
export type LightConfig = pg.ClientConfig & { answerMs?: number };

type Answered = (error: Error | undefined, result?: unknown) => void;

/**
 * V8 allocates a function that is assigned to a property where it is written, as in `query.callback = () => …`, in the old
 * generation at once, since most of them last. What it captures is promoted with it. node-postgres does so for promises and
 * for its timeout: with every statement, its parameters, its rows and their fields were promoted, to be collected only with the
 * whole heap. Here both are made of functions that are passed as arguments (docs/decisions/015-what-ingestion-costs.md).
 */
export class LightClient extends pg.Client {
  readonly #timeoutMs: number;

  constructor(config?: LightConfig) {
    super(config);
    this.#timeoutMs = config?.answerMs ?? 0;
  }

  // biome-ignore lint/suspicious/noExplicitAny: the method has seven overloads, and none matters here
  override query(config: any, ...rest: any[]): any {
    const query = super.query as (...given: unknown[]) => unknown;
    if (config === null || config === undefined || typeof config.submit === "function")
      return query.call(this, config, ...rest);
    const callback = rest.find(given => typeof given === "function") as Answered | undefined;
    const values = rest[0] === callback ? undefined : rest[0];
    // A copy: the client adds the callback to it.
    const own = typeof config === "string" ? config : { ...config };
    const ms = config.answerMs ?? this.#timeoutMs;
    const send = (answered: Answered) =>
      query.call(this, own, values, ms > 0 ? limited(ms, answered) : answered);
    if (callback) return send(callback);
    return new Promise((resolve, reject) =>
      send((error, result) => (error ? reject(error) : resolve(result))),
    ).catch(error => {
      // The stack that it has leads to the socket; this one leads to who asked.
      Error.captureStackTrace(error);
      throw error;
    });
  }
}

/** Tells of the timeout if no answer comes in `ms`; one that comes later is dropped. */
function limited(ms: number, answered: Answered): Answered {
  let isOver = false;
  const timer = setTimeout(() => {
    isOver = true;
    answered(new Error(readTimeout));
  }, ms);
  return (error, result) => {
    if (isOver) return;
    clearTimeout(timer);
    answered(error, result);
  };
}
