// Where the project is, and how the launcher talks: lines, progress of a long step, and giving up.

import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));

/** A step shorter than this shows nothing on a terminal. */
const quietMs = 1_000;

export function say(line) {
  process.stderr.write(`onlooker: ${line}\n`);
}

/** Prints the line and ends the process with 1. */
export function fail(line) {
  say(line);
  process.exit(1);
}

/**
 * Shows on a terminal that a step is under way: one line with its progress and the seconds so far, rewritten in place,
 * and replaced by `done` when it ends. Elsewhere it shows nothing.
 */
export function startStep(text) {
  const startedAt = Date.now();
  let progress = "";
  const isShown = () => process.stderr.isTTY === true && Date.now() - startedAt >= quietMs;
  const show = (line, end) => isShown() && process.stderr.write(`\r\x1b[K${line}${end}`);
  const timer = setInterval(() => show(`${text}${progress}… ${seconds(startedAt)}`, ""), 500);
  return {
    progress(words) {
      progress = ` ${words}`;
    },
    /** Without `done` the line is removed. */
    end(done) {
      clearInterval(timer);
      if (done === undefined) show("", "");
      else show(`${done} (${seconds(startedAt)})`, "\n");
    },
  };
}

function seconds(since) {
  const count = Math.round((Date.now() - since) / 1000);
  return count < 60 ? `${count} s` : `${Math.floor(count / 60)} min ${count % 60} s`;
}
