// Loads the full text of a truncated passage from its span, on request.

import { type QueryClient, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Passage } from "../../../../src/model/trace/shown.ts";
import type { Span } from "../../../../src/model/trace/trace.ts";
import { type Failure, failureOf } from "../../../api.ts";
import { textOfValue } from "../../../exact-json.ts";
import { readSpanQuery } from "../../../queries/traces.ts";
import { valueAt } from "../../../value-path.ts";
import { useTurns } from "./turns.ts";

export type ReadPassage = {
  text: string;
  /** Whether `text` is complete. */
  whole: boolean;
  loading: boolean;
  failure: Failure | undefined;
  load: () => void;
};

export function usePassage({ text, length, spanId, paths }: Passage): ReadPassage {
  const { trace } = useTurns();
  const [wanted, setWanted] = useState(false);
  const query = useQuery({ ...readSpanQuery(trace.id, spanId), enabled: wanted });
  const isCut = text.length < length;
  const rest = query.data && wanted ? textAt(query.data.span, paths) : undefined;
  return {
    text: isCut ? (rest ?? text) : text,
    whole: !isCut || rest !== undefined,
    loading: wanted && query.isFetching,
    failure: wanted && query.error ? failureOf(query.error) : undefined,
    load: () => (wanted ? void query.refetch() : setWanted(true)),
  };
}

/** Throws if it cannot be loaded. */
export async function wholeText(queries: QueryClient, traceId: string, passage: Passage): Promise<string> {
  const { text, length, spanId, paths } = passage;
  if (text.length === length) return text;
  const { span } = await queries.fetchQuery(readSpanQuery(traceId, spanId));
  return textAt(span, paths) ?? text;
}

/** Undefined if the span was replaced and has no value there now. */
function textAt(span: Span, paths: Passage["paths"]): string | undefined {
  const parts = paths.map(path => valueAt(span, path));
  return parts.length === 0 || parts.includes(undefined) ? undefined : parts.map(textOfValue).join("");
}
