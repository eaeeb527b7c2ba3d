// The headers of a judge's connection as a form edits and sends them. All are secret.
import { type DraftHeader, newHeader } from "./connection-draft.ts";

/** What the service has stored; the values stay there. */
export function storedHeaders(headers: { name: string }[]): DraftHeader[] {
  return headers.map(({ name }) => ({ ...newHeader(), name, stored: "kept" }));
}

/** A stored header whose value is left empty keeps it. */
export function sentHeaders(headers: DraftHeader[]): { name: string; value?: string }[] {
  return headers.map(({ name, value, stored }) =>
    value === "" && stored === "kept" ? { name } : { name, value },
  );
}
