// One trace: what its tests said.
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useLive } from "../live.ts";
import { outlineQuery } from "../queries/traces.ts";
import { Page } from "../ui/Page.tsx";
import { Loaded } from "../ui/State.tsx";
import { EvaluationPanel } from "./trace/EvaluationPanel.tsx";

const route = getRouteApi("/member/projects/$projectId/agents/$agentId/traces/$traceId");

export function TracePage() {
  const { agentId, traceId } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery(outlineQuery(traceId));
  useLive({ agentId }, event => {
    if (event.type === "refresh" || ("traceId" in event && event.traceId === traceId)) void query.refetch();
  });
  const selected =
    search.span === undefined ? undefined : { span: search.span, attribute: search.attribute ?? null };
  return (
    <Page title="Trace">
      <Loaded query={query}>
        {trace => (
          <EvaluationPanel
            trace={trace}
            runId={search.run}
            testId={search.test}
            selected={selected}
            onSelect={({ span, attribute }) =>
              void navigate({ search: now => ({ ...now, span, attribute: attribute ?? undefined }) })
            }
          />
        )}
      </Loaded>
    </Page>
  );
}
