// The panes of a trace: three side by side where there is room, else two or one, with the views in the address.

import { getRouteApi, Link, useLocation } from "@tanstack/react-router";
import { type ReactNode, type RefObject, useEffect, useMemo, useRef } from "react";
import type { TraceOutline } from "../../../src/http/traces/schemas.ts";
import { useShortcut } from "../../shell/shortcuts.ts";
import { useMedia } from "../../ui/media.ts";
import { EmptyState } from "../../ui/State.tsx";
import { ConversationView } from "./ConversationView.tsx";
import { EvaluationPanel } from "./EvaluationPanel.tsx";
import { quotedIn } from "./quoted.ts";
import { RawView } from "./RawView.tsx";
import { SpanPanel } from "./SpanPanel.tsx";
import { SpanTree } from "./SpanTree.tsx";
import type { Selection } from "./selection.ts";
import { buildTree, pointedSpans, shownRun } from "./tree.ts";

const route = getRouteApi("/member/projects/$projectId/agents/$agentId/traces/$traceId");

const address = "/projects/$projectId/agents/$agentId/traces/$traceId";

type View = "conversation" | "spans" | "evaluation" | "raw";
const views: Record<View, string> = {
  conversation: "Conversation",
  spans: "Spans",
  evaluation: "Evaluation",
  raw: "Raw JSON",
};

export function TracePanes({ trace }: { trace: TraceOutline }) {
  const search = route.useSearch();
  const wide = useMedia("(min-width: 1280px)");
  const narrow = useMedia("(max-width: 767px)");
  const view = viewOf(search);
  const selected = useSelection(search.span, search.attribute);
  const { select, quote, find, chosenBy } = useChoices(view);
  const { spans, rootSpanId, runs } = trace;
  const tree = useMemo(() => buildTree(spans, rootSpanId), [spans, rootSpanId]);
  const quoted = useMemo(
    () => quotedIn(shownRun(runs, search.run), search.quote),
    [runs, search.run, search.quote],
  );
  const pointed = useMemo(() => pointedSpans(shownRun(runs, search.run)), [runs, search.run]);

  // One below the other: what was chosen is further down.
  const spanPane = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (narrow && selected && chosenBy.current === "click") spanPane.current?.scrollIntoView();
  }, [narrow, selected, chosenBy]);
  const leave = usePlaces(narrow);

  const panes: Record<PaneName, ReactNode> = {
    tree: (
      <SpanTree
        tree={tree}
        pointed={pointed}
        selected={search.span}
        find={search.find ?? ""}
        onFind={find}
        onSelect={(span, how) => select({ span }, "spans", how)}
      />
    ),
    conversation: (
      <ConversationView
        trace={trace}
        quoted={quoted}
        onSelect={selection => {
          leave();
          select(selection, "spans");
        }}
      />
    ),
    span:
      selected && tree.positions.has(selected.span) ? (
        <SpanPanel
          trace={trace}
          selected={selected}
          onSelect={selection => select(selection, view === "evaluation" ? view : "spans")}
        />
      ) : (
        <NoSpan lost={selected !== undefined} />
      ),
    evaluation: (
      <EvaluationPanel
        trace={trace}
        runId={search.run}
        testId={search.test}
        selected={selected}
        quoted={quoted?.name}
        onQuote={name => {
          leave();
          quote(name, wide || narrow ? "conversation" : "evaluation");
        }}
        // Of two panes the evaluation stays beside what it points to.
        onSelect={selection => {
          leave();
          select(selection, wide || narrow ? "spans" : "evaluation");
        }}
      />
    ),
    raw: <RawView trace={trace} />,
  };
  const shown = shownPanes(view, selected !== undefined, wide ? 3 : narrow ? 1 : 2);
  const current = wide && view === "evaluation" ? (selected ? "spans" : "conversation") : view;
  return (
    <>
      {!wide && <Views current={view} shown={["conversation", "spans", "evaluation", "raw"]} />}
      <div className="trace-panes" data-panes={narrow ? 1 : shown.length}>
        {shown.map((name, index) => (
          <Pane
            // The views' links outlive the view.
            key={wide ? index : name}
            name={name}
            pane={name === "span" ? spanPane : undefined}
            tabs={
              wide && index === 1 ? (
                <Views current={current} shown={["conversation", "spans", "raw"]} spans="Span" />
              ) : null
            }
          >
            {panes[name]}
          </Pane>
        ))}
      </div>
    </>
  );
}

const paneNames = {
  tree: "Tree",
  conversation: "Conversation",
  span: "Span",
  evaluation: "Evaluation",
  raw: "Raw JSON",
};
type PaneName = keyof typeof paneNames;

/** From the left, or from above where there is room for one only. */
function shownPanes(view: View, hasSpan: boolean, room: 1 | 2 | 3): PaneName[] {
  const besides: PaneName = hasSpan ? "span" : "conversation";
  const chosen: PaneName = view === "spans" ? "span" : view === "evaluation" ? besides : view;
  if (room === 3) return ["tree", chosen, "evaluation"];
  switch (view) {
    case "spans":
      return ["tree", "span"];
    case "conversation":
      return room === 1 ? [view] : [view, "evaluation"];
    case "evaluation":
      return room === 1 ? [view] : [view, besides];
    case "raw":
      return [view];
  }
}

/** What is chosen goes into the address: another view or a click as a step, what is typed or passed in its place. */
function useChoices(view: View) {
  const navigate = route.useNavigate();
  const { span } = route.useSearch();
  const go = (to: View) => void navigate({ search: prev => ({ ...prev, view: to }), resetScroll: false });
  useShortcut("v c", "View the conversation", () => go("conversation"));
  useShortcut("v s", "View the spans", () => go("spans"));
  useShortcut("v e", "View the evaluation", () => go("evaluation"));
  useShortcut("v r", "View the raw JSON", () => go("raw"));
  const chosenBy = useRef<"click" | "move" | null>(span !== undefined && view === "spans" ? "click" : null);
  return {
    chosenBy,
    select({ span, attribute }: Selection, to: View, how: "click" | "move" = "click"): void {
      chosenBy.current = how;
      void navigate({
        search: prev => ({
          ...prev,
          span,
          attribute: attribute ?? undefined,
          quote: undefined,
          view: to,
        }),
        replace: how === "move",
        resetScroll: false,
      });
    },
    /** What was said takes the place of a span. */
    quote(name: string, to: View): void {
      void navigate({
        search: prev => ({ ...prev, quote: name, span: undefined, attribute: undefined, view: to }),
        resetScroll: false,
      });
    },
    find(text: string): void {
      void navigate({
        search: prev => ({ ...prev, find: text || undefined }),
        replace: true,
        resetScroll: false,
      });
    },
  };
}

/** Where one view takes the place of another, Back leads to where the other was left; what it returns notes that. */
function usePlaces(narrow: boolean): () => void {
  const places = useRef(new Map<string, number>());
  const entry = useLocation({ select: ({ state }) => state.__TSR_key ?? "" });
  useEffect(() => {
    const place = places.current.get(entry);
    if (place === undefined || !narrow) return;
    // After what the router does about it, which goes by the height that the page had.
    const timer = setTimeout(() => scrollTo({ top: place }));
    return () => clearTimeout(timer);
  }, [entry, narrow]);
  return () => void places.current.set(entry, scrollY);
}

/** An address that names a span and no view means that span. */
function viewOf({ view, span, test, check }: ReturnType<typeof route.useSearch>): View {
  if (view !== undefined && Object.hasOwn(views, view)) return view as View;
  return span !== undefined
    ? "spans"
    : test !== undefined || check !== undefined
      ? "evaluation"
      : "conversation";
}

/** The same object as long as it means the same. */
function useSelection(span: string | undefined, attribute: string | undefined): Selection | undefined {
  return useMemo(
    () => (span === undefined ? undefined : { span, attribute: attribute ?? null }),
    [span, attribute],
  );
}

type ViewsProps = {
  current: View;
  shown: View[];
  /** Where the tree is in sight anyway, what the view of spans adds is the one. */
  spans?: string;
};

function Views({ current, shown, spans = views.spans }: ViewsProps) {
  return (
    <nav className="tabs trace-views" aria-label="Views">
      {shown.map(view => (
        <Link
          key={view}
          from={address}
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

type PaneProps = {
  name: PaneName;
  tabs: ReactNode;
  pane: RefObject<HTMLDivElement | null> | undefined;
  children: ReactNode;
};

function Pane({ name, tabs, pane, children }: PaneProps) {
  return (
    <div className="pane" ref={pane}>
      {tabs}
      {name === "tree" ? (
        <section className="spans" aria-label={paneNames[name]}>
          {children}
        </section>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard.
        <section key={name} className="pane-body" tabIndex={0} aria-label={paneNames[name]}>
          {children}
        </section>
      )}
    </div>
  );
}

function NoSpan({ lost }: { lost: boolean }) {
  return (
    <EmptyState icon="search" title={lost ? "This span is not in the trace" : "No span is selected"}>
      <p className="quiet">
        {lost
          ? "The trace may have been replaced since the link was made. Select another one in the tree."
          : "Select one in the tree, or a piece of evidence in the evaluation."}
      </p>
    </EmptyState>
  );
}
