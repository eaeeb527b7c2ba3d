// Runs a command to its end and returns its output, or throws with that output when the command fails.
import { type SpawnOptions, spawn } from "node:child_process";

export type Output = { code: number | null; stdout: string; stderr: string };

/** Resolves for every exit code. Rejects when the program cannot be started. */
export function runCommand(program: string, args: string[], options: SpawnOptions = {}): Promise<Output> {
  const child = spawn(program, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  const output: Output = { code: null, stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name]!.setEncoding("utf8").on("data", (text: string) => {
      output[name] += text;
    });
  }
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", code => resolve({ ...output, code }));
  });
}

/** The same, but rejects with the end of the output when the exit code is not 0. */
export async function requireCommand(
  program: string,
  args: string[],
  options: SpawnOptions = {},
): Promise<Output> {
  const output = await runCommand(program, args, options);
  if (output.code === 0) return output;
  throw new Error(
    `"${[program, ...args].join(" ")}" exited with ${output.code}:\n${lastLines(output.stdout + output.stderr)}`,
  );
}

/** As much of an output as a failure should show. */
export function lastLines(output: string): string {
  return output.split("\n").slice(-60).join("\n");
}
