// The fetch for judges whose address a user typed: only public and allowed places are called, and nothing is redirected.
import type { Outbound, OutboundInit } from "../outbound.ts";

/** What the AI SDK calls: an address, and a body that is text. */
export function judgeFetch(outbound: Pick<Outbound, "fetch">, timeoutMs: number): typeof globalThis.fetch {
  return (input, init = {}) => {
    const { method, headers, body, signal } = init as OutboundInit;
    return outbound.fetch(
      input instanceof Request ? input.url : input,
      { method: method ?? "GET", headers: headers ?? {}, body: body ?? null, signal: signal ?? null },
      { timeoutMs, redirectsMax: 0 },
    );
  };
}
