// Loads the full value of a truncated part of a span, on request.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type Failure, failureOf } from "../../../api.ts";
import { spanQuery } from "../../../queries/traces.ts";
import { type ValuePath, valueAt } from "../../../value-path.ts";

export type FullValue = {
  /** Undefined until loaded. */
  value: unknown;
  loading: boolean;
  failure: Failure | undefined;
  load: () => void;
};

/** The value at this path of the full span. */
export function useFullValue(
  { traceId, span }: { traceId: string; span: { span_id: string } },
  path: ValuePath,
): FullValue {
  const [wanted, setWanted] = useState(false);
  const query = useQuery({ ...spanQuery(traceId, span.span_id, true), enabled: wanted });
  return {
    value: wanted && query.data ? valueAt(query.data.span, path) : undefined,
    loading: wanted && query.isFetching,
    failure: wanted && query.error ? failureOf(query.error) : undefined,
    load: () => (wanted ? void query.refetch() : setWanted(true)),
  };
}
