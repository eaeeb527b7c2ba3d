// Lists the failed tests of a run with their messages, as its last lines: CI logs are cut in the middle.
import { relative } from "node:path";
import type { EventData } from "node:test";

const shownMax = 10;
/** Characters of one message. Of a property, it begins with the seed, the path and the counterexample. */
const messageMax = 1_500;

export class FailedTests {
  readonly #root: string;
  readonly #failures: string[][] = [];

  /** Files are named relative to `root`. */
  constructor(root: string) {
    this.#root = root;
  }

  /** Ignores suites that failed only because of a test in them, and tests that are marked as to do. */
  add({ name, file, line, todo, details: { error } }: EventData.TestFail): void {
    const { failureType } = error as { failureType?: string };
    if (failureType === "subtestsFailed" || (todo !== undefined && todo !== false)) return;
    const place = file === undefined ? "" : `${relative(this.#root, file)}:${line ?? 1}: `;
    const message = messageOf(error.cause ?? error);
    this.#failures.push([`failed: ${place}${name}`, ...message.split("\n").map(one => `  | ${one}`)]);
  }

  /** Also suites, which the runner does not count: a file that cannot be imported is one. */
  get count(): number {
    return this.#failures.length;
  }

  /** Each begins with "failed: " or "  | ". */
  lines(): string[] {
    const more = this.#failures.length - shownMax;
    return [
      ...this.#failures.slice(0, shownMax).flat(),
      ...(more > 0 ? [`failed: ${more} more, see above`] : []),
    ];
  }
}

/** The messages of an error and of what caused it, such as the assertion that a property failed by. */
function messageOf(fault: unknown): string {
  if (!(fault instanceof Error)) return shortened(String(fault));
  const message = shortened(fault.message);
  return fault.cause === undefined ? message : `${message}\ncaused by: ${messageOf(fault.cause)}`;
}

function shortened(text: string): string {
  return text.length > messageMax ? `${text.slice(0, messageMax)}…` : text;
}
