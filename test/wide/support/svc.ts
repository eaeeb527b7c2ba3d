// Runs src/cli.ts, as `npm run svc` does.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Output } from "../../flow/processes.ts";
import { childEnv } from "../../support/child-env.ts";

const cli = join(import.meta.dirname, "../../../src/cli.ts");

export async function svc(args: string[], env: Record<string, string>): Promise<Output> {
  const child = spawn(process.execPath, [cli, ...args], {
    env: { ...childEnv, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (text: string) => {
      output[name] += text;
    });
  }
  const [code] = await once(child, "close");
  return { ...output, code };
}
