// Formats the token counts and revisions of a trace, and names the identity that a resent trace needs.
import type { TraceOutline } from "../../../src/http/traces/schemas.ts";
import type { Tokens } from "../../../src/model/trace/trace.ts";
import { numberText } from "../../format.ts";

/** "1,200 in (400 cached), 340 out"; null if neither is known. */
export function tokensText({
  input,
  output,
  cached = null,
}: Pick<Tokens, "input" | "output"> & Partial<Pick<Tokens, "cached">>): string | null {
  const ofIt = cached ? ` (${numberText(cached)} cached)` : "";
  const parts = [
    input !== null && `${numberText(input)} in${ofIt}`,
    output !== null && `${numberText(output)} out`,
  ].filter(Boolean);
  return parts.length > 0 ? parts.join(", ") : null;
}

/** "once", "twice", "5 times". */
export function timesText(times: number): string {
  return times === 1 ? "once" : times === 2 ? "twice" : `${numberText(times)} times`;
}

/** What the sender must change so that the same data becomes a new trace. */
export function freshIdentity({ path }: TraceOutline): string {
  return path === "otlp" ? "a new trace id" : "a new x-request-id";
}
