// A test reporter that prints one line of JSON per finished test, for a run of tests inside a test.
import type { TestEvent } from "node:test/reporters";

export type ReportLine = { file: string; name: string; error: string | null };

export default async function* reportLines(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const { type, data } of events) {
    if ((type !== "test:pass" && type !== "test:fail") || data.details.type === "suite") continue;
    const error = "error" in data.details ? data.details.error : undefined;
    const cause = error?.cause instanceof Error ? error.cause.stack : String(error?.cause ?? error);
    const line: ReportLine = { file: data.file ?? "", name: data.name, error: error ? (cause ?? "") : null };
    yield `${JSON.stringify(line)}\n`;
  }
}
