// Runs programs for the launcher: to the end, in place of this process, or supervised with restarts after a crash.

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { constants } from "node:os";
import { heapFlags } from "./heap.mjs";
import { fail, say } from "./terminal.mjs";

/** Stop signals, which are forwarded to the running child. */
const forwarded = ["SIGINT", "SIGTERM", "SIGHUP"];

/** The pause before a restart doubles with each crash in a row, up to this. */
const pauseMaxMs = 30_000;

/** After running for this long, the next crash counts as the first. */
const stableMs = 60_000;

/**
 * Runs a program with its output on standard error and resolves with its exit code (128 plus the signal, as in a shell),
 * or with the error that kept it from starting. If it ends by a stop signal, such as Ctrl-C, this process ends as well.
 * With `onOutput`, the program's output goes there and not to standard error.
 */
export async function runToEnd(command, args, { onOutput, ...options } = {}) {
  const output = onOutput ? "pipe" : 2;
  const child = spawn(command, args, { ...options, stdio: ["ignore", output, output] });
  if (onOutput)
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", onOutput);
  const { code, signal, error } = await endOf(child);
  if (signal === null) return { code, error };
  const shellCode = 128 + constants.signals[signal];
  if (forwarded.includes(signal)) process.exit(shellCode);
  return { code: shellCode, error };
}

/** Replaces this process by the program (execve) if Node can; else runs it as a child and ends as the child ends. */
export async function replaceProcess(command, args) {
  if (process.execve !== undefined) {
    process.removeAllListeners("warning"); // some versions of Node print that execve is experimental
    process.execve(command, [command, ...args], process.env);
  }
  const child = spawn(command, args, { stdio: "inherit" });
  endLike(await endOf(child), command);
}

/**
 * Runs a service on this Node until it stops or gets a stop signal. Between "ready" and "stopping", which it sends over the IPC
 * channel, any end is a crash, and the service is restarted, so that neither a bug nor an out-of-memory error leaves the
 * port closed. A service that ends before it was ever ready has printed why, and is not restarted.
 *
 * The child stops when the channel closes, so killing this process leaves no service behind.
 */
export async function supervise(node, args) {
  const command = [...heapFlags(node), ...args];
  let stopped = false;
  let endPause = () => {};
  const stop = () => {
    stopped = true;
    endPause();
  };
  for (const signal of forwarded) process.on(signal, stop);

  let wasReady = false;
  for (let pauseMs = 1_000; ; pauseMs = Math.min(2 * pauseMs, pauseMaxMs)) {
    const child = spawn(node, command, { stdio: ["inherit", "inherit", "inherit", "ipc"] });
    let readyAt;
    child.on("message", message => {
      if (message === "ready") readyAt = Date.now();
      else if (message === "stopping") stopped = true;
    });
    const end = await endOf(child);
    wasReady ||= readyAt !== undefined;
    if (stopped || end.code === 0 || !wasReady) {
      for (const signal of forwarded) process.removeListener(signal, stop);
      return endLike(end, node);
    }
    if (readyAt !== undefined && Date.now() - readyAt > stableMs) pauseMs = 1_000;
    say(`the service ended unexpectedly (${describe(end)}); restarting in ${pauseMs / 1000} s`);
    await new Promise(resolve => {
      const timer = setTimeout(resolve, pauseMs);
      endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    if (stopped) process.exit(0);
  }
}

function describe({ code, signal, error }) {
  if (error) return error.message;
  if (signal === "SIGKILL") return "SIGKILL; the system may be out of memory";
  return signal ?? `exit code ${code}`;
}

/** Ends this process with the child's exit code, or by the signal that ended the child. */
function endLike({ code, signal, error }, command) {
  if (error) fail(`${command} cannot be run: ${error.message}`);
  if (signal) process.kill(process.pid, signal);
  else process.exit(code);
}

/** Resolves when the child has ended. Until then, forwards stop signals to it. */
async function endOf(child) {
  const stopForwarding = forwardSignals(child);
  const end = await new Promise(resolve => {
    child.once("error", error => resolve({ code: null, signal: null, error }));
    child.once("exit", (code, signal) => resolve({ code, signal, error: undefined }));
  });
  stopForwarding();
  return end;
}

/** Except Ctrl-C: the terminal sends SIGINT to all foreground processes, so the child already has it. */
function forwardSignals(child) {
  const handlers = forwarded.map(signal => {
    const handler = () => {
      if (!(signal === "SIGINT" && inForeground())) child.kill(signal);
    };
    process.on(signal, handler);
    return [signal, handler];
  });
  return () => {
    for (const [signal, handler] of handlers) process.removeListener(signal, handler);
  };
}

function inForeground() {
  try {
    // pid (name) state ppid pgrp session tty_nr tpgid; the name may contain spaces and parentheses.
    const stat = readFileSync("/proc/self/stat", "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[2] === fields[5];
  } catch {
    return process.stdin.isTTY === true; // no /proc on macOS
  }
}
