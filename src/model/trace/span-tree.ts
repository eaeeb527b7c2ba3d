// The tree that spans form through their parents: one root, the orphans named, and no loop whatever was sent.
import { compareStarts } from "./merge.ts";
import type { Notice, Span } from "./trace.ts";

/** Spans are referred to by their position in `spans`; -1 stands for none. */
export type SpanTree = {
  spans: Span[];
  /** -1 only when there is no span at all. */
  root: number;
  /**
   * By position, the parent's position. -1 for a parentless span, for one whose parent is not in the trace and
   * for every span of a cycle: walking up always ends.
   */
  parents: number[];
  /** Ids of the spans whose parent is not in the trace, or that are their own ancestor. In the order of `spans`. */
  orphanIds: string[];
  /** `orphan_spans` when there are any, `no_root` when no span is parentless. */
  notices: Notice[];
};

/**
 * Builds the tree in time linear in the spans, without recursion. The root is the parentless span that starts
 * first; else the span that starts first among those whose parent is not in the trace; else the first.
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

/** By position, the positions of a span's children in the order of the spans; undefined where it has none. */
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

/** By position, how many steps a span is below the root; Infinity for a span that does not hang from it. */
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

/** Cuts every span of a cycle from its parent and returns their positions. */
function cutCycles(parents: number[]): number[] {
  const cut: number[] = [];
  const walks: number[] = new Array(parents.length).fill(-1);
  for (let walk = 0; walk < parents.length; walk++) {
    let at = walk;
    while (at !== -1 && walks[at] === -1) {
      walks[at] = walk;
      at = parents[at]!;
    }
    // Only a walk that came back upon itself has found a cycle; one that met an earlier walk has not.
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
