// The columns of the list of traces: fixed ones, and optional ones chosen in this browser.
import { type CSSProperties, type ReactNode, useMemo } from "react";
import { numberText } from "../../format.ts";
import { tracePaths } from "../../labels.ts";
import { persistedChoice } from "../../persisted-choice.ts";
import type { TraceRow } from "../../queries/use-trace-list.ts";
import { Popover } from "../../ui/Popover.tsx";
import { RelativeTime } from "../../ui/Time.tsx";
import { Duration, RunCell, Subject } from "./cells.tsx";

/** What cells need besides their row. */
export type CellContext = {
  projectId: string;
  agentId: string;
  agentName: string;
  hasJudge: boolean;
  namesDiffer: boolean;
};

export type Column = {
  id: string;
  label: string;
  /** The width in rem, or the minimum where it may grow. `tightRem` applies where fewer columns are shown. */
  rem: number;
  tightRem?: number;
  /** The maximum width. In `fr` it takes the remaining space; with fewer columns, only those in `fr` grow. */
  growsTo?: string;
  /** The narrowest window that shows it; absent: all. */
  from?: "wide";
  end?: boolean;
  cell: (row: TraceRow, context: CellContext) => ReactNode;
};

const none = <span className="quiet">–</span>;
const count = (value: number | null) => (value === null ? none : numberText(value));

const fixed: readonly Column[] = [
  {
    id: "received",
    label: "Received",
    rem: 9.75,
    cell: ({ receivedAt }) => <RelativeTime at={receivedAt} />,
  },
  {
    id: "verdict",
    label: "Verdict",
    rem: 18,
    tightRem: 16.5,
    growsTo: "18.5rem",
    cell: (row, { hasJudge }) => <RunCell row={row} hasJudge={hasJudge} />,
  },
  {
    id: "name",
    label: "Input",
    rem: 10.5,
    tightRem: 8,
    growsTo: "1fr",
    cell: (row, { projectId, agentId, namesDiffer }) => (
      <Subject row={row} namesDiffer={namesDiffer} params={{ projectId, agentId, traceId: row.id }} />
    ),
  },
  {
    id: "status",
    label: "HTTP",
    rem: 2.75,
    from: "wide",
    end: true,
    cell: ({ httpStatus }) => httpStatus !== 200 && count(httpStatus),
  },
  {
    id: "duration",
    label: "Duration",
    rem: 4.5,
    growsTo: "var(--duration-max)",
    cell: ({ durationMs }) => (durationMs === null ? none : <Duration ms={durationMs} />),
  },
  {
    id: "tokens-in",
    label: "Tokens in",
    rem: 4.25,
    from: "wide",
    end: true,
    cell: ({ tokens }) => count(tokens.input),
  },
  {
    id: "tokens-out",
    label: "Out",
    rem: 3.25,
    from: "wide",
    end: true,
    cell: ({ tokens }) => count(tokens.output),
  },
  {
    id: "spans",
    label: "Spans",
    rem: 3.5,
    from: "wide",
    end: true,
    cell: row => count(row.spanCount),
  },
];

const optional: readonly Column[] = [
  {
    id: "externalId",
    label: "External ID",
    rem: 9,
    from: "wide",
    cell: ({ externalId }) => (
      <bdi className="mono" title={externalId}>
        {externalId}
      </bdi>
    ),
  },
  { id: "path", label: "Path", rem: 5, from: "wide", cell: ({ path }) => tracePaths[path] },
  {
    id: "agent",
    label: "Agent",
    rem: 7,
    from: "wide",
    cell: (_, { agentName }) => <bdi>{agentName}</bdi>,
  },
  {
    id: "tests",
    label: "Tests",
    rem: 3.5,
    from: "wide",
    end: true,
    cell: ({ run }) =>
      run?.counts ? count(Object.values(run.counts).reduce((sum, one) => sum + one, 0)) : none,
  },
];

const isOptional = (id: string) => optional.some(column => column.id === id);
const chosenColumns = persistedChoice<string>(
  "trace-columns",
  "",
  text => text === "" || text.split(",").every(isOptional),
);

export function useColumns(): readonly Column[] {
  const ids = chosenColumns.use();
  return useMemo(() => [...fixed, ...optional.filter(({ id }) => ids.split(",").includes(id))], [ids]);
}

/** The grid's tracks for wide and medium windows, and the minimum width of the wide ones. */
export function tracksOf(columns: readonly Column[]): CSSProperties {
  const tracks = (shown: readonly Column[], tight: boolean) =>
    shown
      .map(({ rem, tightRem = rem, growsTo = "0" }) =>
        tight && !growsTo.endsWith("fr")
          ? `${tightRem}rem`
          : `minmax(${tight ? tightRem : rem}rem, ${growsTo})`,
      )
      .join(" ");
  const rem = columns.reduce((sum, column) => sum + column.rem, 0);
  return {
    "--columns": tracks(columns, false),
    "--columns-medium": tracks(
      columns.filter(({ from }) => !from),
      true,
    ),
    "--columns-gaps": columns.length + 1,
    "--columns-width": `${rem}rem`,
  } as CSSProperties;
}

export function ColumnsPopover() {
  const ids = chosenColumns.use().split(",");
  const choose = (id: string, on: boolean) =>
    chosenColumns.set(
      optional
        .filter(column => (column.id === id ? on : ids.includes(column.id)))
        .map(({ id }) => id)
        .join(),
    );
  return (
    <Popover
      icon="columns"
      title="Columns"
      className="only-wide"
      panel={() => (
        <fieldset className="panel-form">
          <legend className="menu-label">More columns</legend>
          {optional.map(({ id, label }) => (
            <label key={id} className="choice">
              <input
                type="checkbox"
                checked={ids.includes(id)}
                onChange={event => choose(id, event.target.checked)}
              />
              {label}
            </label>
          ))}
        </fieldset>
      )}
    >
      Columns
    </Popover>
  );
}
