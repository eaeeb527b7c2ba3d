// Finds what the built-in rules find in one text without JSON.
import type { Found } from "./found.ts";
import type { BuiltInRule } from "./rules.ts";

/** `names`: of all rules, by rank. */
export function findBuiltIn(
  text: string,
  _key: string,
  active: ReadonlySet<BuiltInRule>,
  names: readonly string[],
): Found[] {
  const found: Found[] = [];
  if (active.has("email") && text.includes("@")) {
    const rule = names.indexOf("email");
    for (const { index, 0: all } of text.matchAll(/[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{2,63}){1,5}/g)) {
      found.push({ start: index, end: index + all.length, rule });
    }
  }
  return found;
}
