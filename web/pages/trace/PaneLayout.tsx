// The layout of a trace's panes: their names, the links of the views, and panes side by side with dividers, or stacked.
import { Link } from "@tanstack/react-router";
import { Fragment, type ReactNode, type RefObject } from "react";
import { PaneDivider } from "./PaneDivider.tsx";
import { usePaneWidths } from "./pane-widths.ts";

const path = "/projects/$projectId/agents/$agentId/traces/$traceId";

export type View = "conversation" | "spans" | "evaluation" | "raw";
export const views: Record<View, string> = {
  conversation: "Conversation",
  spans: "Spans",
  evaluation: "Evaluation",
  raw: "Raw JSON",
};

const paneNames = {
  tree: "Tree",
  conversation: "Conversation",
  span: "Span",
  evaluation: "Evaluation",
  raw: "Raw JSON",
};
export type PaneName = keyof typeof paneNames;

type ViewsProps = {
  current: View;
  shown: View[];
  /** The label of the spans view; "Span" where the tree is always visible. */
  spans?: string;
};

export function Views({ current, shown, spans = views.spans }: ViewsProps) {
  return (
    <nav className="tabs trace-views" aria-label="Views">
      {shown.map(view => (
        <Link
          key={view}
          from={path}
          to="."
          search={prev => ({ ...prev, view })}
          resetScroll={false}
          className="tab"
          {...(view === current && { "aria-current": "page" })}
        >
          {view === "spans" ? spans : views[view]}
        </Link>
      ))}
    </nav>
  );
}

type PanesProps = {
  shown: PaneName[];
  stacked: boolean;
  children: (name: PaneName, index: number) => ReactNode;
};

/** Side by side with dividers between them, or stacked. */
export function Panes({ shown, stacked, children }: PanesProps) {
  const { widths, move, reset } = usePaneWidths(shown.length === 3 ? 3 : 2);
  const isResizable = !stacked && shown.length > 1;
  const columns = widths.map(width => `minmax(0, ${width}fr)`).join(" var(--divider) ");
  return (
    <div
      className="trace-panes"
      data-panes={stacked ? 1 : shown.length}
      style={isResizable ? { gridTemplateColumns: columns } : undefined}
    >
      {shown.map((name, index) => {
        const next = shown[index + 1];
        return (
          <Fragment key={index}>
            {children(name, index)}
            {isResizable && next && (
              <PaneDivider
                pane={index}
                widths={widths}
                label={`Resize ${paneNames[name]} and ${paneNames[next]}`}
                onMove={move}
                onReset={reset}
              />
            )}
          </Fragment>
        );
      })}
    </div>
  );
}

type PaneProps = {
  name: PaneName;
  tabs: ReactNode;
  pane: RefObject<HTMLDivElement | null> | undefined;
  children: ReactNode;
};

export function Pane({ name, tabs, pane, children }: PaneProps) {
  return (
    <div className="pane" ref={pane}>
      {tabs}
      {name === "tree" ? (
        <section className="spans" aria-label={paneNames[name]}>
          {children}
        </section>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard.
        <section key={name} className="pane-body" tabIndex={0} aria-label={paneNames[name]}>
          {children}
        </section>
      )}
    </div>
  );
}
