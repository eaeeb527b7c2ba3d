// One side of a benchmark, in a process of its own: measures a part of a benchmark with the code of this checkout when told to.
//
//   fork("bench/side.ts", [name, "{\"args\":[],\"isCompared\":true}"])
import { benchmarks, type Figures, type Parts } from "./benchmark.ts";

export type Answer = { parts?: number; figures?: Figures; error?: string };

const { name, args, isCompared } = JSON.parse(process.argv[2]!) as {
  name: string;
  args: string[];
  isCompared: boolean;
};
const closing: (() => unknown)[] = [];
let parts: Parts | undefined;

/** The first message opens the benchmark, the others are the number of a part. */
process.on("message", async at => {
  try {
    if (parts) answer({ figures: await parts[at as number]!() });
    else {
      const { open, seconds = 2 } = benchmarks[name]!;
      parts = await open({
        ...{ args, isCompared, seconds: Number(process.env["BENCH_SECONDS"] ?? seconds) },
        onClose: work => closing.push(work),
      });
      answer({ parts: parts.length });
    }
  } catch (error) {
    answer({ error: sentence(error as Error) });
  }
});
process.on("disconnect", close);
// They reach the parent, too, which disconnects.
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => {});

function answer(message: Answer): void {
  process.send!(message);
}

async function close(): Promise<void> {
  for (const work of closing.toReversed()) await Promise.try(work).catch(console.error);
  process.exit(0);
}

/** What is missing in another layout, or what went wrong. */
function sentence(error: Error & { code?: string }): string {
  const missing =
    /Cannot find module '([^']+)'/.exec(error.message) ??
    /module '([^']+)' does not provide/.exec(error.message);
  const isMissing = error.code === "ERR_MODULE_NOT_FOUND" || error instanceof SyntaxError;
  return isMissing && missing
    ? `its layout is another: ${error.message.split("\n")[0]}`
    : (error.stack ?? error.message);
}
