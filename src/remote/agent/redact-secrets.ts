// Cuts secrets out of a text that a server sent, however it repeats them, in a time that the two cannot make long.

const mark = "[secret]";

/** The text with a mark in place of each secret, also where it is written as JSON or an address would have it. */
export function redactSecrets(secrets: string[], text: string): string {
  // The longest first: one may begin with another.
  return [...new Set(secrets.flatMap(writingsOf))]
    .sort((one, other) => other.length - one.length)
    .reduce((rest, secret) => replaceEach(rest, secret), text);
}

/** Itself, within JSON as one library or another escapes it, and within an address. */
function writingsOf(text: string): string[] {
  const inJson = JSON.stringify(text).slice(1, -1);
  const [slashed, plussed] = [inJson.replaceAll("/", "\\/"), inJson.replaceAll("+", "\\u002B")];
  return [text, inJson, slashed, plussed, encodeURIComponent(text)];
}

/**
 * As `replaceAll` does, which compares some texts of a megabyte with some of 8,000 characters for nine seconds: no
 * character of the text is looked at anew (Knuth, Morris and Pratt).
 */
function replaceEach(text: string, secret: string): string {
  const borders = bordersOf(secret);
  const parts: string[] = [];
  let [kept, same] = [0, 0];
  for (let at = 0; at < text.length; at += 1) {
    same = nextSame(secret, borders, same, text.charCodeAt(at));
    if (same < secret.length) continue;
    parts.push(text.slice(kept, at + 1 - same), mark);
    kept = at + 1;
    same = 0;
  }
  return parts.length === 0 ? text : parts.join("") + text.slice(kept);
}

/** Of each beginning, by its length less one: how much of its end is a beginning, too. */
function bordersOf(secret: string): Uint32Array {
  const borders = new Uint32Array(secret.length);
  for (let at = 1; at < secret.length; at += 1) {
    borders[at] = nextSame(secret, borders, borders[at - 1]!, secret.charCodeAt(at));
  }
  return borders;
}

/** How many characters are the secret's first ones, once `code` follows on `same` that are. */
function nextSame(secret: string, borders: Uint32Array, same: number, code: number): number {
  let length = same;
  while (length > 0 && secret.charCodeAt(length) !== code) length = borders[length - 1]!;
  return secret.charCodeAt(length) === code ? length + 1 : 0;
}
