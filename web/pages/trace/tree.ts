// Builds the span tree with times, without recursion: any depth, orphans and cycles included.

import type { RunDetail } from "../../../src/http/traces/run-schemas.ts";
import type { Outcome } from "../../../src/model/run/outcome.ts";
import type { OutlineSpan } from "../../../src/model/trace/shown.ts";

export type Row = {
  span: OutlineSpan;
  /** 0: a root. */
  depth: number;
  /** Positions in `rows`. -1: a root. */
  parent: number;
  /** The position after the last descendant. */
  end: number;
  /** Why it is a root although it names a parent: the parent is missing, or is a descendant of the span. */
  stray: "orphan" | "cycle" | null;
  /** Its position among its siblings, from 1, and their number. */
  place: number;
  siblings: number;
  /** Milliseconds since the start of the trace; null if unknown. */
  startMs: number | null;
  /** Null if start or end is unknown, or the end is before the start. */
  durationMs: number | null;
};

export type Tree = {
  /** Every span, a parent before its children, siblings by their start. */
  rows: Row[];
  positions: Map<string, number>;
  /** From the first start to the last end; 0 without times. */
  spanMs: number;
};

/** The trace's root comes first, then other parentless spans, then those whose parent is missing. */
export function buildTree(spans: OutlineSpan[], rootSpanId: string | null): Tree {
  const times = readTimes(spans);
  const ids = new Map(spans.map(({ spanId }, at) => [spanId, at]));
  const parents = spans.map(({ parentSpanId }) => (parentSpanId ? (ids.get(parentSpanId) ?? -1) : -1));
  const cycles = cutCycles(parents);
  const strayOf = (at: number): Row["stray"] => {
    if (cycles.has(at)) return "cycle";
    return parents[at] === -1 && spans[at]!.parentSpanId ? "orphan" : null;
  };

  const byStart = (a: number, b: number) =>
    (times[a]!.startMs ?? Infinity) - (times[b]!.startMs ?? Infinity) || a - b;
  const rank = (at: number) => (spans[at]!.spanId === rootSpanId ? 0 : strayOf(at) === null ? 1 : 2);
  const children: number[][] = spans.map(() => []);
  const roots: number[] = [];
  parents.forEach((parent, at) => {
    (parent === -1 ? roots : children[parent]!).push(at);
  });
  roots.sort((a, b) => rank(a) - rank(b) || byStart(a, b));
  for (const siblings of children) if (siblings.length > 1) siblings.sort(byStart);

  const rows: Row[] = [];
  const positions = new Map<string, number>();
  /** A stack: the next one to visit is last. */
  const open = asPending(roots, -1);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if ("closes" in next) {
      rows[next.closes]!.end = rows.length;
      continue;
    }
    const { at, parent, place, siblings } = next;
    const position = rows.length;
    const depth = parent === -1 ? 0 : rows[parent]!.depth + 1;
    rows.push({
      span: spans[at]!,
      depth,
      parent,
      end: position + 1,
      stray: strayOf(at),
      place,
      siblings,
      ...times[at]!,
    });
    positions.set(spans[at]!.spanId, position);
    if (children[at]!.length === 0) continue;
    open.push({ closes: position });
    for (const child of asPending(children[at]!, position)) open.push(child);
  }
  const spanMs = rows.reduce(
    (most, { startMs, durationMs }) => Math.max(most, (startMs ?? 0) + (durationMs ?? 0)),
    0,
  );
  return { rows, positions, spanMs };
}

type Pending = { at: number; parent: number; place: number; siblings: number } | { closes: number };

function asPending(list: number[], parent: number): Pending[] {
  return list.map((at, index) => ({ at, parent, place: index + 1, siblings: list.length })).reverse();
}

/** In place: the spans of a cycle lose their parents. Returns their positions. */
function cutCycles(parents: number[]): Set<number> {
  const cut = new Set<number>();
  const walks = new Int32Array(parents.length).fill(-1);
  for (let walk = 0; walk < parents.length; walk++) {
    let at = walk;
    while (at !== -1 && walks[at] === -1) {
      walks[at] = walk;
      at = parents[at]!;
    }
    if (at === -1 || walks[at] !== walk) continue;
    while (parents[at] !== -1) {
      const parent = parents[at]!;
      parents[at] = -1;
      cut.add(at);
      at = parent;
    }
  }
  return cut;
}

/** Nanoseconds since 1970 exceed what a number can represent exactly; since the trace's start they do not. */
function readTimes(spans: OutlineSpan[]): { startMs: number | null; durationMs: number | null }[] {
  const nanos = (text: string | null) => (text !== null && /^\d{1,20}$/.test(text) ? BigInt(text) : null);
  const read = spans.map(span => [nanos(span.startTimeUnixNano), nanos(span.endTimeUnixNano)] as const);
  let first: bigint | null = null;
  for (const [start] of read) if (start !== null && (first === null || start < first)) first = start;
  return read.map(([start, end]) => ({
    startMs: start === null ? null : Number(start - first!) / 1e6,
    durationMs: start === null || end === null || end < start ? null : Number(end - start) / 1e6,
  }));
}

/** Positions of the rows to show: no descendants of collapsed ones; in a search, the matches and their ancestors. */
export function visibleRows(
  rows: Row[],
  folded: ReadonlySet<string>,
  found: ReadonlySet<number> | null,
): number[] {
  const visible: number[] = [];
  if (found) {
    const shown = new Set<number>();
    for (const position of found) {
      for (let at = position; at !== -1 && !shown.has(at); at = rows[at]!.parent) shown.add(at);
    }
    return [...shown].sort((a, b) => a - b);
  }
  for (let at = 0; at < rows.length; ) {
    const { span, end } = rows[at]!;
    visible.push(at);
    at = folded.has(span.spanId) ? end : at + 1;
  }
  return visible;
}

/** The index in `visible` of the span, or of the nearest collapsed ancestor; -1 if there is none. */
export function indexOfRow({ rows, positions }: Tree, visible: number[], spanId: string | undefined): number {
  for (let at = positions.get(spanId ?? "") ?? -1; at !== -1; at = rows[at]!.parent) {
    const index = placeIn(visible, at);
    if (index !== -1) return index;
  }
  return -1;
}

/** Binary search. */
function placeIn(visible: number[], position: number): number {
  let low = 0;
  let high = visible.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const at = visible[middle]!;
    if (at === position) return middle;
    if (at < position) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}

/** Positions of the rows whose name, detail or id contains the text, ignoring case; null without a text. */
export function findRows(rows: Row[], text: string): Set<number> | null {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return null;
  const found = new Set<number>();
  rows.forEach(({ span: { name, detail, spanId } }, at) => {
    if ([name, detail ?? "", spanId].some(one => one.toLowerCase().includes(wanted))) found.add(at);
  });
  return found;
}

/** The worst outcome of the checks that looked at a span, and the number of checks with that outcome. */
export type Pointed = { outcome: Outcome; checks: number };

const worstFirst: Outcome[] = ["failed", "missing_instrumentation", "skipped", "passed"];

export function pointedSpans(run: RunDetail | undefined): Map<string, Pointed> {
  const pointed = new Map<string, Pointed>();
  for (const { checks } of run?.results ?? []) {
    for (const { outcome, evidence } of checks) {
      for (const spanId of new Set(evidence.map(one => one.spanId))) {
        const known = pointed.get(spanId);
        const worse = known ? worstFirst.indexOf(outcome) - worstFirst.indexOf(known.outcome) : -1;
        if (worse < 0) pointed.set(spanId, { outcome, checks: 1 });
        else if (worse === 0) known!.checks++;
      }
    }
  }
  return pointed;
}

/** What a closed parent shows of the rows in it. */
export type Inside = { failed: boolean; pointed: Pointed | undefined };

/** The worst of a row and all its descendants, so that closing a parent hides no failure. */
export function worstInside(rows: Row[], position: number, pointed: Map<string, Pointed>): Inside {
  const inside: Inside = { failed: false, pointed: undefined };
  for (let at = position; at < rows[position]!.end; at++) {
    const { spanId, failed } = rows[at]!.span;
    inside.failed ||= failed;
    const one = pointed.get(spanId);
    if (!one) continue;
    const known = inside.pointed;
    const worse = known ? worstFirst.indexOf(one.outcome) - worstFirst.indexOf(known.outcome) : -1;
    if (worse < 0) inside.pointed = { ...one };
    else if (worse === 0) known!.checks += one.checks;
  }
  return inside;
}

/** The next or previous row that failed or that a check points to, wrapping around. In a search, among the matches. */
export function nextMarkedRow(
  { rows }: Tree,
  pointed: Map<string, Pointed>,
  found: ReadonlySet<number> | null,
  { from, step }: { from: number; step: 1 | -1 },
): Row | undefined {
  const isMarked = ({ span }: Row, at: number) =>
    (span.failed || pointed.has(span.spanId)) && (found?.has(at) ?? true);
  const candidates = rows.flatMap((row, at) => (isMarked(row, at) ? [at] : []));
  const next =
    step === 1
      ? (candidates.find(at => at > from) ?? candidates[0])
      : (candidates.findLast(at => at < from) ?? candidates.at(-1));
  return next === undefined ? undefined : rows[next];
}

/** The run that is shown: the one named, else the latest completed, else the latest. */
export function shownRun(runs: RunDetail[], runId: string | undefined): RunDetail | undefined {
  const ofState = (...states: RunDetail["state"][]) => runs.find(({ state }) => states.includes(state));
  return (
    runs.find(({ id }) => id === runId) ?? ofState("completed") ?? ofState("pending", "running") ?? runs[0]
  );
}
