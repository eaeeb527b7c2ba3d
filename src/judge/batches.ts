// Splits questions into calls: as few calls as the limit per call allows.

/** Batches of nearly the same size, in order: models judge a short list better than a long one. */
export function evenly<T>(items: T[], max: number): T[][] {
  const calls = Math.ceil(items.length / max);
  return Array.from({ length: calls }, (_, at) =>
    items.slice(Math.round((at * items.length) / calls), Math.round(((at + 1) * items.length) / calls)),
  );
}

/** Keeps groups together if that takes no further call: the largest first, each into the first call with room for it. */
export function together<T>(groups: T[][], max: number): T[][] {
  const items = groups.flat();
  const fewest = Math.ceil(items.length / max);
  const calls: T[][] = [];
  for (const group of groups.toSorted((a, b) => b.length - a.length)) {
    const roomy = calls.find(call => call.length + group.length <= max);
    if (roomy) roomy.push(...group);
    else if (group.length > 0) calls.push([...group]);
  }
  if (calls.length === fewest && calls.every(call => call.length <= max)) return calls;
  return Array.from({ length: fewest }, (_, at) => items.slice(at * max, (at + 1) * max));
}
