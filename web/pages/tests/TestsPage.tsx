// The test case list of an agent, with import, export, bulk actions and runs.
import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { ListedTest } from "../../../src/http/test-cases/schemas.ts";
import { DeleteTests } from "../../forms/DeleteTests.tsx";
import { ImportTests } from "../../forms/ImportTests.tsx";
import { useLaunch } from "../../forms/use-launch.tsx";
import { useLive } from "../../live.ts";
import { lastTraceQuery } from "../../queries/agents.ts";
import { testInsightsQuery } from "../../queries/test-insights.ts";
import { testsQuery } from "../../queries/tests.ts";
import { useRefresh } from "../../refreshing.ts";
import { Button } from "../../ui/Button.tsx";
import { Menu } from "../../ui/Menu.tsx";
import { Page } from "../../ui/Page.tsx";
import { Loaded } from "../../ui/State.tsx";
import { useAllPages } from "./all-pages.ts";
import { NoTests } from "./NoTests.tsx";
import { newTestEntries } from "./new-test.ts";
import { Problems } from "./Problems.tsx";
import type { ListFilters } from "./rows.ts";
import { TestList } from "./TestList.tsx";
import { useTestActions } from "./use-test-actions.ts";
import "../../styles/tests.css";

const route = getRouteApi("/member/projects/$projectId/agents/$agentId/tests");

type Open = { what: "import" } | { what: "delete"; tests: readonly ListedTest[] } | undefined;

export function TestsPage() {
  const params = route.useParams();
  const { agentId } = params;
  const filters = route.useSearch();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const tests = useAllPages(useInfiniteQuery(testsQuery(agentId)));
  const insights = useAllPages(useInfiniteQuery(testInsightsQuery(agentId)));
  const { data: lastTrace } = useQuery(lastTraceQuery(agentId));
  const { launch, busy, dialog } = useLaunch(params);
  const [open, setOpen] = useState<Open>();
  const refresh = useRefresh(() =>
    queries.invalidateQueries({ queryKey: testInsightsQuery(agentId).queryKey }),
  );
  useLive({ agentId }, event => {
    const isOver = event.type === "launch" || (event.type === "run" && event.state === "completed");
    if (isOver || event.type === "refresh") refresh();
  });
  const filter = (change: ListFilters, replace = false) =>
    void navigate({
      to: "/projects/$projectId/agents/$agentId/tests",
      params,
      search: { ...filters, ...change },
      replace,
      resetScroll: false,
    });
  const { actions, create, refetch, reportDeleted, failure, dismiss } = useTestActions(params, {
    onRun: testIds => void launch(testIds),
    onDelete: some => setOpen({ what: "delete", tests: some }),
  });

  return (
    <Page
      title="Test cases"
      about="What you expect of this agent."
      actions={
        tests.data && (
          <>
            <Button onClick={() => setOpen({ what: "import" })}>Import…</Button>
            {tests.data.some(({ status }) => status === "active") && (
              <Button icon="play" busy={busy} onClick={() => void launch()}>
                Run all active
              </Button>
            )}
            {tests.data.length > 0 && (
              <Menu look="main" icon="plus" entries={newTestEntries(lastTrace ?? null, create)}>
                New test case
              </Menu>
            )}
          </>
        )
      }
    >
      {dialog}
      <Problems failure={failure} params={params} onDismiss={dismiss} />
      <Loaded query={tests}>
        {items =>
          items.length === 0 ? (
            <NoTests params={params} lastTrace={lastTrace ?? null} />
          ) : (
            <TestList
              tests={tests}
              insights={insights}
              filters={filters}
              onFilter={filter}
              actions={actions}
            />
          )
        }
      </Loaded>
      {open?.what === "import" && (
        <ImportTests
          agentId={agentId}
          known={tests.data ?? []}
          onImported={refetch}
          onClose={() => setOpen(undefined)}
        />
      )}
      {open?.what === "delete" && (
        <DeleteTests
          tests={open.tests}
          onClose={() => setOpen(undefined)}
          onDone={async problems => {
            setOpen(undefined);
            await reportDeleted(open.tests, problems);
          }}
        />
      )}
    </Page>
  );
}
