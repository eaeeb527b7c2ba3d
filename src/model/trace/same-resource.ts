// Whether two batches name the same resource.
import { isDeepStrictEqual } from "node:util";
import type { Attributes } from "./trace.ts";

/** Whatever the order of their attributes, as in one request. */
export function isSameResource(a: Attributes | null, b: Attributes | null): boolean {
  return isDeepStrictEqual(a, b);
}
