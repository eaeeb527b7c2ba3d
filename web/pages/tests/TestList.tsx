// The list of test cases: filters, table and bulk actions.
import { useMemo } from "react";
import type { TestInsights } from "../../../src/http/projects/insights-schemas.ts";
import type { ListedTest } from "../../../src/http/test-cases/schemas.ts";
import { numberText } from "../../format.ts";
import { counted } from "../../labels.ts";
import { Button } from "../../ui/Button.tsx";
import { OutcomeLegend } from "../../ui/OutcomeStrip.tsx";
import { EmptyState, MorePages } from "../../ui/State.tsx";
import { useSelection } from "../../ui/selection.ts";
import { BulkActions } from "./BulkActions.tsx";
import { type ListFilters, noFilters, rowsOf, shownRows, sortOf } from "./rows.ts";
import { sortParameter, TestFilters } from "./TestFilters.tsx";
import type { TestActions } from "./TestRow.tsx";
import { TestTable } from "./TestTable.tsx";

type Pages<T> = {
  data: T[] | undefined;
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  isFetchNextPageError: boolean;
  error: Error | null;
  fetchNextPage: () => unknown;
};

type TestListProps = {
  tests: Pages<ListedTest>;
  insights: Pages<TestInsights>;
  filters: ListFilters;
  onFilter: (change: ListFilters, replace?: boolean) => void;
  actions: TestActions;
};

export function TestList({ tests, insights, filters, onFilter, actions }: TestListProps) {
  const { text, status, behavior, last, sort } = filters;
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
      <TestFilters filters={filters} onFilter={onFilter}>
        <span role="status">
          {shown.length === all.length
            ? counted(all.length, "test")
            : `${numberText(shown.length)} of ${counted(all.length, "test")}`}
        </span>
      </TestFilters>
      {shown.length === 0 ? (
        <EmptyState icon="search" title="No matching tests">
          <p className="quiet">None of the {counted(all.length, "test")} matches all filters.</p>
          <Button onClick={() => onFilter(noFilters)}>Show all</Button>
        </EmptyState>
      ) : (
        <>
          <OutcomeLegend />
          <TestTable
            rows={shown}
            sort={sortOf(filters)}
            onSort={sort => onFilter({ sort: sortParameter(sort) })}
            selection={selection}
            actions={actions}
          />
        </>
      )}
      <MorePages query={tests.hasNextPage ? tests : insights} />
      <BulkActions chosen={chosen} actions={actions} onClear={() => selection.chooseAll(false)} />
    </>
  );
}
