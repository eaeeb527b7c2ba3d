// The progress of an erasure that was just started, and how it ended.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { erasureQuery, erasuresQuery } from "../../queries/erasures.ts";
import { dropLists } from "../../queries/trace-lists.ts";
import { Notice } from "../../ui/Notice.tsx";
import { Loaded } from "../../ui/State.tsx";
import { progressText, tracesText } from "./words.ts";

export function ErasureProgress({ id, projectId }: { id: string; projectId: string }) {
  const queries = useQueryClient();
  const erasure = useQuery(erasureQuery(id));
  const state = erasure.data?.state;
  useEffect(() => {
    if (state === undefined || state === "running") return;
    void queries.invalidateQueries({ queryKey: erasuresQuery(projectId).queryKey });
    // They may show what is gone.
    dropLists(queries);
    for (const shown of ["agents", "traces", "tests", "runs", "labels"])
      void queries.invalidateQueries({ queryKey: [shown] });
  }, [state, queries, projectId]);
  return (
    <Loaded query={erasure}>
      {found => {
        const { state, erased, error } = found;
        if (state === "running") {
          return (
            <Notice tone="info" role="status">
              <p>{progressText(found)} It continues if you leave this page.</p>
              {error && <p>{error}</p>}
            </Notice>
          );
        }
        if (state === "failed") {
          return (
            <Notice tone="bad" role="alert">
              {error}
            </Notice>
          );
        }
        return (
          <Notice tone={error ? "warn" : "good"} role="status">
            {tracesText(erased)} erased.
            {error && ` ${error}`}
          </Notice>
        );
      }}
    </Loaded>
  );
}
