// The rest of what was cut, read once somebody asks for it.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type Failure, failureOf } from "../../../api.ts";
import { spanQuery } from "../../../queries/traces.ts";
import { type ValuePath, valueAt } from "../../../value-path.ts";

export type Whole = {
  /** Undefined until it is there. */
  value: unknown;
  loading: boolean;
  failure: Failure | undefined;
  load: () => void;
};

/** The value at this path of the whole span. */
export function useAllPages(
  { traceId, span }: { traceId: string; span: { span_id: string } },
  path: ValuePath,
): Whole {
  const [wanted, setWanted] = useState(false);
  const query = useQuery({ ...spanQuery(traceId, span.span_id, true), enabled: wanted });
  return {
    value: wanted && query.data ? valueAt(query.data.span, path) : undefined,
    loading: wanted && query.isFetching,
    failure: wanted && query.error ? failureOf(query.error) : undefined,
    load: () => (wanted ? void query.refetch() : setWanted(true)),
  };
}
