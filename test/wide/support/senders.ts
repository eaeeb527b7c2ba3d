// Programs that export one trace with OpenTelemetry's stock SDKs for Python, Go and Node.js: installs, builds and runs them.
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { cached, lastingFolder } from "./cache.ts";
import { type Output, requireCommand, runCommand } from "./command.ts";
import type { Need } from "./needs.ts";

export type SenderName = "Python" | "Go" | "Node.js";

export type Sender = {
  /** Rejects if the program cannot be installed or built. */
  prepare(): Promise<void>;
  /** Runs the program with these variables and no others of ours. */
  run(env: Record<string, string>): Promise<Output>;
};

const sources = join(import.meta.dirname, "../clients/exporters");
const pythonPackages = ["opentelemetry-sdk==1.45.2", "opentelemetry-exporter-otlp-proto-http==1.45.2"];

export const needsOf: Record<SenderName, Need[]> = {
  Python: ["python", "pypi"],
  Go: ["go", "go-modules"],
  "Node.js": [],
};

export function openSender(name: SenderName): Sender {
  let program: string[] = [];
  let own: Record<string, string> = {};
  return {
    async prepare() {
      if (name === "Python") {
        program = ["python3", join(sources, "send.py")];
        own = { PYTHONPATH: await installPython(), PYTHONDONTWRITEBYTECODE: "1" };
      } else if (name === "Go") program = [await buildGo()];
      else program = [process.execPath, join(sources, "send.ts")];
    },
    run: env =>
      runCommand(program[0]!, program.slice(1), { env: { PATH: process.env["PATH"], ...own, ...env } }),
  };
}

/** The folder of the packages, 30 MB. */
function installPython(): Promise<string> {
  return cached("opentelemetry-python", pythonPackages, async folder => {
    const quiet = ["--quiet", "--disable-pip-version-check", "--root-user-action=ignore"];
    await requireCommand("python3", [
      "-m",
      "pip",
      "install",
      ...quiet,
      "--target",
      folder,
      ...pythonPackages,
    ]);
  });
}

/** The path of the program. Its dependencies are compiled once, which takes a minute and a half. */
async function buildGo(): Promise<string> {
  const files = ["main.go", "go.mod", "go.sum"].map(file => readFileSync(join(sources, "go", file), "utf8"));
  const folder = await cached("opentelemetry-go", files, async folder => {
    cpSync(join(sources, "go"), folder, { recursive: true });
    const caches = { GOMODCACHE: lastingFolder("go-modules"), GOCACHE: lastingFolder("go-build") };
    const env = { ...process.env, ...caches, GOTOOLCHAIN: "local", GOFLAGS: "-mod=readonly -modcacherw" };
    await requireCommand("go", ["build", "-o", "send", "."], { cwd: folder, env });
  });
  return join(folder, "send");
}
