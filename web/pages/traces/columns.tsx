// The columns of the list of traces: fixed and optional ones.
import { type CSSProperties, type ReactNode, useMemo } from "react";
import { numberText } from "../../format.ts";
import { tracePaths } from "../../labels.ts";
import type { TraceRow } from "../../queries/use-trace-list.ts";
import { Cost, Duration, Received, RunCell, Subject } from "./cells.tsx";
import type { ColumnWidths } from "./column-widths.ts";
import { chosenColumns, type Density, type OptionalColumn, type TimeStyle } from "./display.ts";

/** What cells need besides their row. */
export type CellContext = {
  projectId: string;
  agentId: string;
  agentName: string;
  hasJudge: boolean;
  namesDiffer: boolean;
  /** Of the rows listed; 0: not known. */
  slowestMs: number;
  times: TimeStyle;
};

export type Column = {
  id: string;
  label: string;
  /**
   * The default width in rem, or the minimum where it grows. `compactRem` applies in rows of one line, `tightRem` to a
   * column that grows where fewer columns are shown.
   */
  rem: number;
  tightRem?: number;
  compactRem?: number;
  /** The same, with absolute times. */
  absoluteRem?: number;
  /** The column takes the remaining space, so its width cannot be chosen. */
  growsTo?: "1fr";
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
    rem: 6.5,
    compactRem: 10,
    absoluteRem: 11.5,
    cell: ({ receivedAt }, { times }) => <Received at={receivedAt} times={times} />,
  },
  {
    id: "verdict",
    label: "Verdict",
    rem: 13.5,
    compactRem: 15,
    cell: (row, { hasJudge }) => <RunCell row={row} hasJudge={hasJudge} />,
  },
  {
    id: "name",
    label: "Input",
    rem: 12,
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
    rem: 4.75,
    cell: ({ durationMs }, { slowestMs }) =>
      durationMs === null ? none : <Duration ms={durationMs} slowestMs={slowestMs} />,
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

export const optional: readonly (Column & { id: OptionalColumn })[] = [
  {
    id: "cost",
    label: "Cost",
    rem: 5,
    from: "wide",
    end: true,
    cell: row => <Cost row={row} />,
  },
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

export function useColumns(): readonly Column[] {
  const ids = chosenColumns.use();
  return useMemo(() => [...fixed, ...optional.filter(({ id }) => ids.split(",").includes(id))], [ids]);
}

const selectRem = 1.25;

export type Look = { density: Density; times: TimeStyle; widths: ColumnWidths };

/** The width in rem that the user chose, else the default; of a column that grows, its minimum. */
export function widthOf(
  { id, growsTo, rem, compactRem = rem, absoluteRem = compactRem }: Column,
  look: Look,
) {
  const chosen = growsTo === undefined ? look.widths[id] : undefined;
  if (chosen !== undefined) return chosen;
  if (look.density !== "compact") return rem;
  return look.times === "absolute" ? absoluteRem : compactRem;
}

/** The grid's tracks for wide and medium windows, and the minimum width of the wide ones. */
export function tracksOf(columns: readonly Column[], look: Look): CSSProperties {
  const tracks = (shown: readonly Column[], tight: boolean) => {
    const widths = shown.map(column => {
      const { growsTo, tightRem } = column;
      const rem = widthOf(column, look);
      return growsTo === undefined
        ? `${rem}rem`
        : `minmax(${tight ? (tightRem ?? rem) : rem}rem, ${growsTo})`;
    });
    return [`${selectRem}rem`, ...widths].join(" ");
  };
  const rem = columns.reduce((sum, column) => sum + widthOf(column, look), selectRem);
  return {
    "--columns": tracks(columns, false),
    "--columns-medium": tracks(
      columns.filter(({ from }) => !from),
      true,
    ),
    "--columns-gaps": columns.length + 2,
    "--columns-width": `${rem}rem`,
  } as CSSProperties;
}
