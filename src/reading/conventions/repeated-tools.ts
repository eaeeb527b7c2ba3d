// Which spans of tools tell of a call that a span above them tells already: a framework, its MCP client, the MCP server.
import type { ReadSpan } from "../span/reading.ts";

/**
 * The span above, by the span that repeats it. `withArguments`: whether arguments that differ tell two calls apart; without
 * them only names are compared.
 */
export function repeatedTools(
  reads: ReadSpan[],
  parents: number[],
  withArguments: boolean,
): Map<ReadSpan, ReadSpan> {
  const repeated = new Map<ReadSpan, ReadSpan>();
  const tools = reads.filter(({ tool }) => tool !== null);
  if (tools.length < 2) return repeated;
  const byPosition = new Map(reads.map(read => [read.at, read]));
  for (const inner of tools) {
    for (let at = parents[inner.at]!; at !== -1; at = parents[at]!) {
      const outer = byPosition.get(at);
      // What an agent or a model calls is a call of its own, also within a tool.
      if (outer && (outer.role === "agent" || outer.role === "model")) break;
      if (!outer?.tool) continue;
      if (isSameCall(outer, inner, withArguments)) repeated.set(inner, repeated.get(outer) ?? outer);
      break;
    }
  }
  return repeated;
}

function isSameCall({ tool: outer }: ReadSpan, { tool: inner }: ReadSpan, withArguments: boolean): boolean {
  if (outer!.id !== null && outer!.id === inner!.id) return true;
  if (!isSameWithin(outer!.name, inner!.name)) return false;
  if (!withArguments) return true;
  const [one, other] = [outer!.arguments?.value, inner!.arguments?.value];
  return one == null || other == null || JSON.stringify(one) === JSON.stringify(other);
}

/** Whether two names are those of one tool: frameworks put the name of the MCP server before it. */
export function isSameTool(one: string, other: string): boolean {
  return one === other || isNamedWithServer(one, other) || isNamedWithServer(other, one);
}

function isNamedWithServer(long: string, short: string): boolean {
  return short !== "" && long.startsWith("mcp__") && long.endsWith(`__${short}`);
}

/** The same for a span within another, where any separator will do. */
function isSameWithin(outer: string, inner: string): boolean {
  const [short, long] = outer.length < inner.length ? [outer, inner] : [inner, outer];
  return (
    short !== "" &&
    long.endsWith(short) &&
    (long.length === short.length || /[_.:/ -]$/.test(long.slice(0, -short.length)))
  );
}
