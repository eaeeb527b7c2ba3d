// Runs a command on a real pseudo-terminal, using the program `script` (of util-linux or macOS).
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

export type OnTerminal = {
  child: ChildProcess;
  /** Everything shown so far, line ends as \n. A line that was rewritten in place appears once for each version. */
  output(): string;
  /** Presses keys, such as "\u0003" for Ctrl-C. */
  type(keys: string): void;
  /** The command's exit code. */
  ended: Promise<number | null>;
};

export function runOnTerminal(command: string[], env: Record<string, string>): OnTerminal {
  // "exec", so that Ctrl-C and the exit code are the command's and not the shell's.
  const line = `exec ${command.map(word => `'${word.replaceAll("'", `'\\''`)}'`).join(" ")}`;
  const args = process.platform === "darwin" ? ["-q", "/dev/null", ...command] : ["-qec", line, "/dev/null"];
  const child = spawn("script", args, {
    env: { PATH: process.env["PATH"], TERM: "xterm", SHELL: "/bin/sh", ...env },
    stdio: ["pipe", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  return {
    child,
    output: () => output.replaceAll("\r\n", "\n"),
    type: keys => void child.stdin.write(keys),
    ended: once(child, "close").then(([code]) => code),
  };
}
