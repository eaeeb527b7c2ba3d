// The test cases that there are: filtered and sorted as the address says, one by one and several at once.

import { useMemo } from "react";
import type { TestInsights } from "../../../src/http/projects/insights-schemas.ts";
import type { ListedTest } from "../../../src/http/test-cases/schemas.ts";
import { counted } from "../../labels.ts";
import { Button } from "../../ui/Button.tsx";
import { OutcomeLegend } from "../../ui/OutcomeStrip.tsx";
import { EmptyState, MorePages } from "../../ui/State.tsx";
import { BulkBar } from "./BulkBar.tsx";
import { rowsOf, shownRows, sortOf, unfiltered, type Wanted } from "./rows.ts";
import { useSelection } from "./selection.ts";
import { orderOf, TestFilters } from "./TestFilters.tsx";
import type { TestActions } from "./TestRow.tsx";
import { TestTable } from "./TestTable.tsx";

type Pages<T> = {
  data: T[] | undefined;
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  fetchNextPage: () => unknown;
};

type TestListProps = {
  tests: Pages<ListedTest>;
  insights: Pages<TestInsights>;
  wanted: Wanted;
  onWant: (change: Wanted, replace?: boolean) => void;
  actions: TestActions;
};

export function TestList({ tests, insights, wanted, onWant, actions }: TestListProps) {
  const { text, status, behavior, last, sort } = wanted;
  const all = useMemo(() => rowsOf(tests.data ?? [], insights.data ?? []), [tests.data, insights.data]);
  const shown = useMemo(
    () => shownRows(all, { text, status, behavior, last, sort }),
    [all, text, status, behavior, last, sort],
  );
  const ids = useMemo(() => shown.map(({ test }) => test.id), [shown]);
  const selection = useSelection(ids);
  const chosen = shown.filter(({ test }) => selection.has(test.id)).map(({ test }) => test);
  return (
    <>
      <TestFilters wanted={wanted} onWant={onWant}>
        <span role="status">
          {shown.length === all.length
            ? counted(all.length, "test case")
            : `${shown.length} of ${counted(all.length, "test case")}`}
        </span>
      </TestFilters>
      {shown.length === 0 ? (
        <EmptyState icon="search" title="No test case is like that">
          <p className="quiet">There are {all.length}, none of which fits all the filters.</p>
          <Button onClick={() => onWant(unfiltered)}>Show all</Button>
        </EmptyState>
      ) : (
        <>
          <OutcomeLegend />
          <TestTable
            rows={shown}
            sort={sortOf(wanted)}
            onSort={sort => onWant({ sort: orderOf(sort) })}
            selection={selection}
            actions={actions}
          />
        </>
      )}
      <MorePages query={tests.hasNextPage ? tests : insights} />
      <BulkBar chosen={chosen} actions={actions} onClear={() => selection.chooseAll(false)} />
    </>
  );
}
