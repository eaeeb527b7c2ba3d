// Orders what several rules found in one text: the longest first where they overlap, then the first rule.

/** `rule`: its rank; lower goes first where two are equally long. */
export type Found = { start: number; end: number; rule: number };

/**
 * By position and without overlaps. Of a find that a longer one covers in part, the rest stays found: what a rule finds is
 * never stored. Linear in the lengths of what overlaps.
 */
export function withoutOverlaps(found: Found[]): Found[] {
  if (isSettled(found)) return found;
  found.sort((a, b) => a.start - b.start || b.end - a.end || a.rule - b.rule);
  const settled: Found[] = [];
  for (let from = 0; from < found.length; ) {
    let end = found[from]!.end;
    let to = from + 1;
    while (to < found.length && found[to]!.start < end) end = Math.max(end, found[to++]!.end);
    if (to === from + 1) settled.push(found[from]!);
    else settle(found.slice(from, to), end, settled);
    from = to;
  }
  return settled;
}

/** Whether all are in order, and none overlaps the next; mostly so. */
function isSettled(found: readonly Found[]): boolean {
  for (let at = 1; at < found.length; at++) {
    const [one, next] = [found[at - 1]!, found[at]!];
    if (next.start < one.end || next.start === one.start) return false;
  }
  return true;
}

/** Paints the least first, so that the longest stays whole. */
function settle(overlapping: Found[], end: number, settled: Found[]): void {
  const start = overlapping[0]!.start;
  const length = (one: Found) => one.end - one.start;
  const byRank = overlapping.sort((a, b) => length(a) - length(b) || b.rule - a.rule || b.start - a.start);
  const owner = new Int32Array(end - start);
  for (const [at, one] of byRank.entries()) owner.fill(at + 1, one.start - start, one.end - start);
  for (let from = 0; from < owner.length; ) {
    let to = from + 1;
    while (to < owner.length && owner[to] === owner[from]) to++;
    settled.push({ start: start + from, end: start + to, rule: byRank[owner[from]! - 1]!.rule });
    from = to;
  }
}
