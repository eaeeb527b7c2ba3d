// Keeps which tools a model called, where only messages tell: as a message with the names and IDs of the calls.

import type { Attributes, LogRecord } from "../../model/trace/trace.ts";
import { answeredCalls } from "../conventions/log-records.ts";
import type { TraceReading } from "../conventions/read-trace.ts";
import { isKept } from "./kept.ts";

type Call = { id: string | null; name: string };

/** An attribute for each span of a model that asked for calls without a span of their own, by the span's ID. */
export function keptCalls({ calls }: TraceReading): Map<string, Attributes> {
  const told = Map.groupBy(
    calls.filter(call => !call.isSpan),
    call => call.spanId,
  );
  return new Map([...told].map(([spanId, own]) => [spanId, messagesWith(own)]));
}

/** The same for a record, whose span may come later. */
export function keptCallsOf(record: LogRecord): Attributes {
  return messagesWith(answeredCalls(record));
}

function messagesWith(calls: Call[]): Attributes {
  const parts = calls
    .filter(({ name }) => isKept("gen_ai.tool.name", name))
    .map(({ id, name }) => ({
      type: "tool_call",
      ...(isKept("gen_ai.tool.call.id", id) && { id }),
      name,
    }));
  return parts.length === 0 ? {} : { "gen_ai.output.messages": [{ role: "assistant", parts }] };
}
