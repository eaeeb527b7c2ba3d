// Builds the span tree: one root, a list of orphans, and no cycles whatever was sent.
import { compareStarts } from "./times.ts";
import type { Notice, Span } from "./trace.ts";

/** Spans are referred to by position in `spans`; -1 means none. */
export type SpanTree = {
  spans: Span[];
  /** -1 only if there are no spans. */
  root: number;
  /**
   * The parent's position, by position. -1 for a span without a parent, for one whose parent is missing, and for every
   * span of a cycle, so that walking up always ends.
   */
  parents: number[];
  /** Ids of spans whose parent is missing or that are their own ancestor, in the order of `spans`. */
  orphanIds: string[];
  /** `orphan_spans` if there are any, `no_root` if every span has a parent. */
  notices: Notice[];
};

/**
 * Linear in the spans, without recursion. The root is the earliest span without a parent, else the earliest whose parent
 * is missing, else the first.
 */
export function buildTree(spans: Span[]): SpanTree {
  const positions = new Map<string, number>();
  for (let at = 0; at < spans.length; at++) positions.set(spans[at]!.span_id, at);

  const parents: number[] = [];
  const orphans: number[] = [];
  let parentless = -1;
  let stray = -1;
  for (let at = 0; at < spans.length; at++) {
    const parentId = spans[at]!.parent_span_id;
    const parent = parentId ? positions.get(parentId) : undefined;
    parents.push(parent ?? -1);
    if (!parentId) {
      parentless = firstToStart(spans, parentless, at);
    } else if (parent === undefined) {
      stray = firstToStart(spans, stray, at);
      orphans.push(at);
    }
  }
  const looped = cutCycles(parents);
  const outcasts = looped.length > 0 ? orphans.concat(looped).sort((a, b) => a - b) : orphans;

  const notices: Notice[] = [];
  if (outcasts.length > 0) notices.push("orphan_spans");
  if (parentless === -1) notices.push("no_root");
  return {
    spans,
    root: parentless !== -1 ? parentless : stray !== -1 ? stray : Math.min(0, spans.length - 1),
    parents,
    orphanIds: outcasts.map(at => spans[at]!.span_id),
    notices,
  };
}

/** By position, the positions of a span's children in the order of the spans; undefined if it has none. */
export function childrenOf(tree: SpanTree): (number[] | undefined)[] {
  const children: (number[] | undefined)[] = new Array(tree.spans.length).fill(undefined);
  for (let at = 0; at < tree.parents.length; at++) {
    const parent = tree.parents[at]!;
    if (parent === -1) continue;
    const siblings = children[parent];
    if (siblings) siblings.push(at);
    else children[parent] = [at];
  }
  return children;
}

/** By position, the depth below the root; Infinity for spans that are not descendants of the root. */
export function depthsOf(tree: SpanTree): number[] {
  const depths: number[] = new Array(tree.spans.length).fill(Infinity);
  const children = childrenOf(tree);
  let level = tree.root === -1 ? [] : [tree.root];
  for (let depth = 0; level.length > 0; depth++) {
    for (const at of level) depths[at] = depth;
    level = level.flatMap(at => children[at] ?? []);
  }
  return depths;
}

function firstToStart(spans: Span[], best: number, at: number): number {
  return best === -1 || compareStarts(spans[at]!, spans[best]!) < 0 ? at : best;
}

/** Detaches every span of a cycle from its parent and returns their positions. */
function cutCycles(parents: number[]): number[] {
  const cut: number[] = [];
  const walks: number[] = new Array(parents.length).fill(-1);
  for (let walk = 0; walk < parents.length; walk++) {
    let at = walk;
    while (at !== -1 && walks[at] === -1) {
      walks[at] = walk;
      at = parents[at]!;
    }
    // A walk found a cycle only if it met itself, not if it met an earlier walk.
    if (at === -1 || walks[at] !== walk) continue;
    while (parents[at] !== -1) {
      const parent = parents[at]!;
      parents[at] = -1;
      cut.push(at);
      at = parent;
    }
  }
  return cut;
}

/** The positions above these, without themselves unless they are above another. */
export function ancestorsOf(tree: SpanTree, positions: number[]): Set<number> {
  const above = new Set<number>();
  for (const position of positions) {
    let at = tree.parents[position]!;
    while (at !== -1 && !above.has(at)) {
      above.add(at);
      at = tree.parents[at]!;
    }
  }
  return above;
}

/** Whether the position, or one above it, is among these. */
export function isBelow({ parents }: SpanTree, position: number, positions: ReadonlySet<number>): boolean {
  for (let at = position; at !== -1; at = parents[at]!) if (positions.has(at)) return true;
  return false;
}
