// The test case list of an agent, with import, export, bulk actions and runs.
import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { ListedTest } from "../../../src/http/test-cases/schemas.ts";
import type { TestCaseDocument } from "../../../src/model/test-case/test-case.ts";
import { DeleteTests } from "../../forms/DeleteTests.tsx";
import { ImportTests } from "../../forms/ImportTests.tsx";
import {
  type BulkFailure,
  duplicateTest,
  exportTests,
  problemOf,
  switchTests,
} from "../../forms/test-changes.ts";
import { useLaunch } from "../../forms/use-launch.tsx";
import { counted } from "../../labels.ts";
import { useLive } from "../../live.ts";
import { lastTraceQuery } from "../../queries/agents.ts";
import { testInsightsQuery } from "../../queries/test-insights.ts";
import { testsQuery } from "../../queries/tests.ts";
import { useRefresh } from "../../refreshing.ts";
import { Button } from "../../ui/Button.tsx";
import { Menu } from "../../ui/Menu.tsx";
import { Page } from "../../ui/Page.tsx";
import { Loaded } from "../../ui/State.tsx";
import { toast } from "../../ui/Toast.tsx";
import { useAllPages } from "./all-pages.ts";
import { NoTests } from "./NoTests.tsx";
import { newTestEntries } from "./new-test.ts";
import { Problems } from "./Problems.tsx";
import type { ListFilters } from "./rows.ts";
import { TestList } from "./TestList.tsx";
import type { TestActions } from "./TestRow.tsx";
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
  const [bulkFailure, setBulkFailure] = useState<BulkFailure>();
  const refresh = useRefresh(() =>
    queries.invalidateQueries({ queryKey: testInsightsQuery(agentId).queryKey }),
  );
  useLive({ agentId }, event => {
    const isOver = event.type === "launch" || (event.type === "run" && event.state === "completed");
    if (isOver || event.type === "refresh") refresh();
  });
  const refetchTests = () => queries.invalidateQueries({ queryKey: testsQuery(agentId).queryKey });

  const setStatus = async (some: readonly ListedTest[], status: TestCaseDocument["status"]) => {
    const word = status === "active" ? "activated" : "disabled";
    const problems = await switchTests(agentId, some, status);
    const what = some.length === 1 ? `Not ${word}` : `Not ${word}, nor any other selected test`;
    setBulkFailure(problems.length > 0 ? { what, problems } : undefined);
    if (problems.length === 0) toast(`${namesOf(some)} ${word}`);
    await refetchTests();
  };
  const duplicate = async (test: ListedTest) => {
    const answer = await duplicateTest(agentId, test);
    setBulkFailure(
      answer.ok ? undefined : { what: "Not duplicated", problems: [problemOf(test, answer.failure)] },
    );
    if (answer.ok) toast(`Created “${answer.value.name}” (disabled)`);
    await refetchTests();
  };
  const edit = (testId: string, search: { template?: string; trace?: string } = {}) =>
    void navigate({
      to: "/projects/$projectId/agents/$agentId/tests/$testId",
      params: { ...params, testId },
      search,
    });
  const filter = (change: ListFilters, replace = false) =>
    void navigate({
      to: "/projects/$projectId/agents/$agentId/tests",
      params,
      search: { ...filters, ...change },
      replace,
      resetScroll: false,
    });
  const actions: TestActions = {
    params,
    edit: ({ id }) => edit(id),
    results: ({ id }) =>
      void navigate({
        to: "/projects/$projectId/agents/$agentId/tests/$testId/results",
        params: { ...params, testId: id },
      }),
    duplicate: test => void duplicate(test),
    setStatus,
    run: some => void launch(some.map(({ id }) => id)),
    exportAll: exportTests,
    remove: some => setOpen({ what: "delete", tests: some }),
  };

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
              <Menu
                look="main"
                icon="plus"
                entries={newTestEntries(lastTrace ?? null, search => edit("new", search))}
              >
                New test case
              </Menu>
            )}
          </>
        )
      }
    >
      {dialog}
      <Problems failure={bulkFailure} params={params} onDismiss={() => setBulkFailure(undefined)} />
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
          onImported={refetchTests}
          onClose={() => setOpen(undefined)}
        />
      )}
      {open?.what === "delete" && (
        <DeleteTests
          tests={open.tests}
          onClose={() => setOpen(undefined)}
          onDone={async problems => {
            setOpen(undefined);
            setBulkFailure(problems.length > 0 ? { what: "Not deleted", problems } : undefined);
            const gone = open.tests.filter(({ id }) => !problems.some(({ testId }) => testId === id));
            if (gone.length > 0) toast(`${namesOf(gone)} deleted`);
            await refetchTests();
          }}
        />
      )}
    </Page>
  );
}

/** The subject of a sentence: the name of one test, or the number of several. */
function namesOf(tests: readonly ListedTest[]): string {
  return tests.length === 1 ? `“${tests[0]!.name}”` : counted(tests.length, "test");
}
