// Memoizes a function of a text.

/** However often it is called, each text is looked at once. */
export function oncePerText<V>(of: (text: string) => V): (text: string) => V {
  const known = new Map<string, V>();
  return text => {
    if (!known.has(text)) known.set(text, of(text));
    return known.get(text) as V;
  };
}
