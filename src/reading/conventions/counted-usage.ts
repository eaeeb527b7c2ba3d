// Which spans' usage counts in a trace that conventions read: for input, output and reasoning each, the deepest that have it.
import type { Span } from "../../model/trace/trace.ts";
import type { ReadSpan, Usage } from "../span/reading.ts";

/** `usage`: what counts of the span's. `isWhole`: it has input or output, and no span below it has. */
export type CountedUsage = { read: ReadSpan; usage: Usage; isWhole: boolean };

export function countedUsage(reads: ReadSpan[], parents: number[]): CountedUsage[] {
  const bearers = withoutTwins(
    reads.filter(({ usage }) => usage),
    parents,
  );
  const deepest = deepestOf(bearers.filter(hasInputOrOutput), parents);
  const whole = new Set(deepest);
  if (whole.size === bearers.length) return deepest.map(read => ({ read, usage: sent(read), isWhole: true }));
  const having = (kind: keyof Usage) =>
    new Set(
      deepestOf(
        bearers.filter(read => sent(read)[kind] !== null),
        parents,
      ),
    );
  const [inputs, outputs, reasonings] = [having("input"), having("output"), having("reasoning")];
  return bearers.flatMap((read): CountedUsage[] => {
    const { input, output, reasoning: thought, cached, written } = sent(read);
    const reasoning = reasonings.has(read) ? thought : null;
    if (whole.has(read)) return [{ read, usage: { ...sent(read), reasoning }, isWhole: true }];
    const isInput = inputs.has(read);
    const usage = {
      input: isInput ? input : null,
      output: outputs.has(read) ? output : null,
      reasoning,
      // Parts of the input.
      cached: isInput ? cached : null,
      written: isInput ? written : null,
    };
    const counts = Object.values(usage).some(count => count !== null);
    return counts ? [{ read, usage, isWhole: false }] : [];
  });
}

/**
 * Without spans that tell once more what a span beside them does: an SDK's own span of the call that an instrumentation
 * recorded, or one for its usage alone.
 */
function withoutTwins(bearers: ReadSpan[], parents: number[]): ReadSpan[] {
  if (bearers.length < 2) return bearers;
  const twins = new Set<ReadSpan>();
  const beside = Map.groupBy(bearers, ({ at }) => parents[at]!);
  for (const siblings of beside.values()) {
    for (const [index, one] of siblings.entries()) {
      if (twins.has(one)) continue;
      const twin = siblings
        .slice(index + 1, index + 1 + siblingsMax)
        .find(other => !twins.has(other) && isTwin(one, other));
      if (twin) twins.add(saysMore(one, twin) ? twin : one);
    }
  }
  return twins.size === 0 ? bearers : bearers.filter(one => !twins.has(one));
}

/** Twins begin one after the other. */
const siblingsMax = 20;

function isTwin(one: ReadSpan, other: ReadSpan): boolean {
  const [a, b] = [one.usage!.value, other.usage!.value];
  if (a.input !== b.input || a.output !== b.output) return false;
  const [id, otherId] = [responseIdOf(one), responseIdOf(other)];
  if (id !== null && otherId !== null) return id === otherId;
  if ((one.role === "model") !== (other.role === "model"))
    return one.role !== "agent" && other.role !== "agent";
  return (
    one.role === "model" && one.span.scope?.name !== other.span.scope?.name && overlaps(one.span, other.span)
  );
}

function responseIdOf({ span }: ReadSpan): string | null {
  const id = span.attributes["gen_ai.response.id"];
  return typeof id === "string" && id !== "" ? id : null;
}

function overlaps(one: Span, other: Span): boolean {
  const [end, start] = [one.end_time_unix_nano ?? "", other.start_time_unix_nano ?? ""];
  return end.length === start.length ? end > start : end.length > start.length;
}

function saysMore(one: ReadSpan, twin: ReadSpan): boolean {
  return one.role === "model" && (twin.role !== "model" || twin.asked === null || one.asked !== null);
}

/** False where only reasoning tokens are known, of which no cost follows. */
export function hasInputOrOutput({ usage }: Pick<ReadSpan, "usage">): boolean {
  return usage !== null && (usage.value.input !== null || usage.value.output !== null);
}

export function sumOf(counted: CountedUsage[]): Omit<Usage, "written"> {
  const sum: Omit<Usage, "written"> = { input: null, output: null, reasoning: null, cached: null };
  for (const { usage } of counted) {
    sum.input = added(sum.input, usage.input);
    sum.output = added(sum.output, usage.output);
    sum.reasoning = added(sum.reasoning, usage.reasoning);
    sum.cached = added(sum.cached, usage.cached);
  }
  return sum;
}

/** Positions of the spans above these. */
export function ancestors(parents: number[], reads: ReadSpan[]): Set<number> {
  const above = new Set<number>();
  for (const read of reads) {
    for (let at = parents[read.at]!; at !== -1 && !above.has(at); at = parents[at]!) above.add(at);
  }
  return above;
}

function sent({ usage }: ReadSpan): Usage {
  return usage!.value;
}

/** Whatever is above them repeats it; of cumulative ones the last with the same parent counts. */
function deepestOf(bearers: ReadSpan[], parents: number[]): ReadSpan[] {
  const above = ancestors(parents, bearers);
  const deepest = bearers.filter(({ at }) => !above.has(at));
  if (!deepest.some(({ cumulative }) => cumulative)) return deepest;
  const last = new Map(bearers.map(({ at }) => [parents[at], at]));
  return deepest.filter(({ at, cumulative }) => !cumulative || last.get(parents[at]) === at);
}

function added(sum: number | null, count: number | null): number | null {
  return count === null ? sum : Math.min((sum ?? 0) + count, Number.MAX_SAFE_INTEGER);
}
