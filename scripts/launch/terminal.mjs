// The launcher's output: lines, the progress of a long step, and fatal errors. Also the project's root folder.

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
 * Shows the progress of a step on a terminal: one line with the seconds so far, updated in place, and replaced by `done`
 * when the step ends. Shows nothing if standard error is not a terminal.
 */
export function startStep(text) {
  const startedAt = Date.now();
  let progress = "";
  const isShown = () => process.stderr.isTTY === true && Date.now() - startedAt >= quietMs;
  const show = (line, end) => isShown() && process.stderr.write(`\r\x1b[K${line}${end}`);
  const timer = setInterval(() => show(`${text}${progress}… ${seconds(startedAt)}`, ""), 500);
  return {
    progress(text) {
      progress = ` ${text}`;
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
