// Where the project is, and how the launcher prints a line or gives up.

import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));

export function say(line) {
  process.stderr.write(`onlooker: ${line}\n`);
}

/** Prints the line and ends the process with 1. */
export function fail(line) {
  say(line);
  process.exit(1);
}
