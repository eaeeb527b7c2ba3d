// Runs programs for the launcher: once, in its place, or supervised, so that a service that dies is started again.

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { constants } from "node:os";
import { fail, say } from "./terminal.mjs";

/** What asks a program to stop; handed on to the child that runs. */
const forwarded = ["SIGINT", "SIGTERM", "SIGHUP"];

/** The pause before a restart doubles with each death in a row, up to this. */
const pauseMaxMs = 30_000;

/** A service that ran for so long was well: its next death counts as the first. */
const wellMs = 60_000;

/**
 * Runs a program with its output on standard error and resolves with its exit code (128 and more for a signal, as a
 * shell counts), or with the error that kept it from starting. Where it was told to stop, such as by Ctrl-C, this
 * process ends as well. With `onOutput`, the program's output goes there and not to standard error.
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

/** Becomes the program where Node can replace its process; else runs it as a child and ends the way it ends. */
export async function replaceProcess(command, args) {
  if (process.execve !== undefined) {
    process.removeAllListeners("warning"); // some versions of Node print that execve is experimental
    process.execve(command, [command, ...args], process.env);
  }
  const child = spawn(command, args, { stdio: "inherit" });
  endLike(await endOf(child), command);
}

/**
 * Runs a service until it stops or is told to stop. After it has sent "ready" over the IPC channel, and before it sends
 * "stopping", any end is a crash, and the service is started again: neither a bug nor an allocation that took all memory
 * may leave the port closed. A service that never got ready has said why, and a restart would say the same.
 *
 * The child stops when the channel closes, so killing this process leaves no service behind.
 */
export async function supervise(command, args) {
  let stopped = false;
  let endPause = () => {};
  const stop = () => {
    stopped = true;
    endPause();
  };
  for (const signal of forwarded) process.on(signal, stop);

  let wasReady = false;
  for (let pauseMs = 1_000; ; pauseMs = Math.min(2 * pauseMs, pauseMaxMs)) {
    const child = spawn(command, args, { stdio: ["inherit", "inherit", "inherit", "ipc"] });
    let readyAt;
    child.on("message", message => {
      if (message === "ready") readyAt = Date.now();
      else if (message === "stopping") stopped = true;
    });
    const end = await endOf(child);
    wasReady ||= readyAt !== undefined;
    if (stopped || end.code === 0 || !wasReady) {
      for (const signal of forwarded) process.removeListener(signal, stop);
      return endLike(end, command);
    }
    if (readyAt !== undefined && Date.now() - readyAt > wellMs) pauseMs = 1_000;
    say(`the service ended unexpectedly (${describe(end)}); starting it again in ${pauseMs / 1000} s`);
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

/** Resolves when the child has ended. Until then it gets the signals that this process gets. */
async function endOf(child) {
  const stopForwarding = forwardSignals(child);
  const end = await new Promise(resolve => {
    child.once("error", error => resolve({ code: null, signal: null, error }));
    child.once("exit", (code, signal) => resolve({ code, signal, error: undefined }));
  });
  stopForwarding();
  return end;
}

/** Not a Ctrl-C: the terminal sends that to every process in its foreground, so the child has it already. */
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
