// Keeps what each test and each file of a run took, and lists it: which to start first, or to make faster.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { groupOf, root } from "./files.ts";

type Time = { name: string; seconds: number };

const shownMax = 30;

export class Times {
  readonly #tests: Time[] = [];
  readonly #files = new Map<string, number>();

  /** `file` is relative to the root. */
  addTest(name: string, file: string, ms: number): void {
    this.#tests.push({ name: `${file}: ${name}`, seconds: ms / 1_000 });
  }

  addFile(file: string, ms: number): void {
    this.#files.set(file, ms / 1_000);
  }

  /** The longest first. */
  slowest(): string[] {
    return ["Seconds of the slowest tests:", ...lines(this.#tests).slice(0, shownMax)];
  }

  /** Files run beside each other, so the total of a group is more than the time it took. */
  byGroup(): string[] {
    const files = [...this.#files].map(([name, seconds]) => ({ name, seconds }));
    const groups = [...Map.groupBy(files, ({ name }) => groupOf(name))].map(([name, members]) => ({
      name,
      seconds: members.reduce((sum, { seconds }) => sum + seconds, 0),
    }));
    return [
      "Seconds of each file:",
      ...lines(files),
      "Seconds of each group, file after file:",
      ...lines(groups),
    ];
  }

  /** Written to node_modules/.cache/tests/times.json. */
  write(): void {
    const folder = join(root, "node_modules", ".cache", "tests");
    mkdirSync(folder, { recursive: true });
    const all = { files: Object.fromEntries(this.#files), tests: this.#tests.toSorted(longestFirst) };
    writeFileSync(join(folder, "times.json"), `${JSON.stringify(all, null, 1)}\n`);
  }
}

function longestFirst(one: Time, other: Time): number {
  return other.seconds - one.seconds;
}

function lines(times: Time[]): string[] {
  return times.toSorted(longestFirst).map(({ name, seconds }) => `${seconds.toFixed(1).padStart(7)} ${name}`);
}
