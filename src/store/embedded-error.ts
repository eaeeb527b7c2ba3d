// Why the embedded database cannot be used, in one line for the operator.

/** The message says what is wrong and then what to do about it; it holds no secret. */
export class EmbeddedError extends Error {
  override name = "EmbeddedError";

  constructor(problem: string, todo: string, options?: ErrorOptions) {
    super(`${problem.replaceAll(/\s*\n\s*/g, " ")} ${todo}`, options);
  }
}
