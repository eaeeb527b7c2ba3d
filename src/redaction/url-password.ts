// Finds passwords in URLs, such as postgres://app:password@host.
import { codeAt, type Text } from "./units.ts";

/** The password in a URL such as `postgres://app:password@host`, whose @ is here. */
export function urlPasswordAt(text: Text, at: number): { start: number; end: number } | null {
  let colon = -1;
  for (let start = at - 1; start >= 0 && at - start < 200; start--) {
    const code = codeAt(text, start);
    if (code <= 32 || code === 34 || code === 39 || code === 64 || code === 0xff20) return null;
    if (code === 47) {
      const isUrl = colon > start && codeAt(text, start - 1) === 47 && codeAt(text, start - 2) === 58;
      const password = text.slice(colon + 1, at);
      return isUrl && password.length >= 3 && !/^[[<{$*%]/.test(password)
        ? { start: colon + 1, end: at }
        : null;
    }
    if (code === 58) colon = start;
  }
  return null;
}
