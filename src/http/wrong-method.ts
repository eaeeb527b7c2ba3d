// The 405 for a known path: its hint says which methods the path has, or where an exporter meant to send.
import { Refusal } from "../model/refusal.ts";
import { wrongPathHint } from "./ingestion/wrong-paths.ts";

const listFormat = new Intl.ListFormat("en-US", { type: "disjunction" });

/** `methods`: those of the path, at least one. */
export function wrongMethod(path: string, methods: string[]): Refusal {
  const isForSenders = methods.every(method => method === "POST");
  const misdirected = isForSenders ? wrongPathHint(path) : undefined;
  return new Refusal("METHOD_NOT_ALLOWED", { hint: misdirected ?? `Use ${listFormat.format(methods)}.` });
}
