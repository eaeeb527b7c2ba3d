// The panes of a trace: three, two or one, by the window's width. The view is kept in the URL.
import { getRouteApi, useLocation } from "@tanstack/react-router";
import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import type { TraceOutline } from "../../../src/http/traces/schemas.ts";
import { useShortcut } from "../../shell/shortcuts.ts";
import { useMedia } from "../../ui/media.ts";
import { EmptyState } from "../../ui/State.tsx";
import { RedactingRules } from "../../ui/TraceText.tsx";
import { ConversationView } from "./ConversationView.tsx";
import { EvaluationPanel } from "./EvaluationPanel.tsx";
import { Pane, type PaneName, Panes, type View, Views, views } from "./PaneLayout.tsx";
import { quotedIn } from "./quoted.ts";
import { RawView } from "./RawView.tsx";
import { SpanPanel } from "./SpanPanel.tsx";
import { SpanTree } from "./SpanTree.tsx";
import type { Selection } from "./selection.ts";
import { buildTree, pointedSpans, shownRun } from "./tree.ts";

const route = getRouteApi("/member/projects/$projectId/agents/$agentId/traces/$traceId");

export function TracePanes({ trace }: { trace: TraceOutline }) {
  const search = route.useSearch();
  const wide = useMedia("(min-width: 1280px)");
  const narrow = useMedia("(max-width: 767px)");
  // A narrow window shows one pane: what failed comes first. Decided once, so that a verdict that arrives moves nothing.
  const [first] = useState((): View => {
    const { verdict } = trace.run ?? {};
    return narrow && (verdict === "failed" || verdict === "missing_instrumentation")
      ? "evaluation"
      : "conversation";
  });
  const view = viewOf(search, first);
  const selected = useSelection(search.span, search.attribute);
  const { select, quote, find, chosenBy } = useChoices(view);
  const { spans, rootSpanId, runs } = trace;
  const tree = useMemo(() => buildTree(spans, rootSpanId), [spans, rootSpanId]);
  const quoted = useMemo(
    () => quotedIn(shownRun(runs, search.run), search.quote),
    [runs, search.run, search.quote],
  );
  const pointed = useMemo(() => pointedSpans(shownRun(runs, search.run)), [runs, search.run]);

  // In one column the span is below the tree, so scroll to it.
  const spanPane = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (narrow && selected && chosenBy.current === "click") spanPane.current?.scrollIntoView();
  }, [narrow, selected, chosenBy]);
  const notePosition = useScrollPositions(narrow);

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
          notePosition();
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
        <NoSpan isMissing={selected !== undefined} />
      ),
    evaluation: (
      // The judge may have been shown placeholders of rules that are for it alone.
      <RedactingRules value={null}>
        <EvaluationPanel
          trace={trace}
          runId={search.run}
          testId={search.test}
          selected={selected}
          quoted={quoted?.name}
          onQuote={name => {
            notePosition();
            quote(name, wide || narrow ? "conversation" : "evaluation");
          }}
          // With two panes, the evaluation stays next to what it points to.
          onSelect={selection => {
            notePosition();
            select(selection, wide || narrow ? "spans" : "evaluation");
          }}
        />
      </RedactingRules>
    ),
    raw: <RawView trace={trace} />,
  };
  const shown = shownPanes(view, selected !== undefined, wide ? 3 : narrow ? 1 : 2);
  const current = wide && view === "evaluation" ? (selected ? "spans" : "conversation") : view;
  return (
    <>
      {!wide && <Views current={view} shown={["conversation", "spans", "evaluation", "raw"]} />}
      <Panes shown={shown} stacked={narrow}>
        {(name, index) => (
          <Pane
            // By index, so that the links of the views keep the focus when the view changes.
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
        )}
      </Panes>
    </>
  );
}

/** From left to right, or from top to bottom in one column. */
function shownPanes(view: View, hasSpan: boolean, columns: 1 | 2 | 3): PaneName[] {
  const other: PaneName = hasSpan ? "span" : "conversation";
  const chosen: PaneName = view === "spans" ? "span" : view === "evaluation" ? other : view;
  if (columns === 3) return ["tree", chosen, "evaluation"];
  switch (view) {
    case "spans":
      return ["tree", "span"];
    case "conversation":
      return columns === 1 ? [view] : [view, "evaluation"];
    case "evaluation":
      return columns === 1 ? [view] : [view, other];
    case "raw":
      return [view];
  }
}

/** Choices go into the URL: views and clicks push a history entry, typing and arrow keys replace it. */
function useChoices(view: View) {
  const navigate = route.useNavigate();
  const { span } = route.useSearch();
  const go = (to: View) => void navigate({ search: prev => ({ ...prev, view: to }), resetScroll: false });
  useShortcut("v c", "Show conversation", () => go("conversation"));
  useShortcut("v s", "Show spans", () => go("spans"));
  useShortcut("v e", "Show evaluation", () => go("evaluation"));
  useShortcut("v r", "Show raw JSON", () => go("raw"));
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
    /** Marks a quotation in the conversation and clears the selected span. */
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

/** In one column, Back restores the scroll position of the view that was left. The result notes the position. */
function useScrollPositions(narrow: boolean): () => void {
  const positions = useRef(new Map<string, number>());
  const entry = useLocation({ select: ({ state }) => state.__TSR_key ?? "" });
  useEffect(() => {
    const position = positions.current.get(entry);
    if (position === undefined || !narrow) return;
    // After the router's own restoration, which uses the old height of the page.
    const timer = setTimeout(() => scrollTo({ top: position }));
    return () => clearTimeout(timer);
  }, [entry, narrow]);
  return () => void positions.current.set(entry, scrollY);
}

/** A URL with a span and no view shows that span. */
function viewOf({ view, span, test, check }: ReturnType<typeof route.useSearch>, first: View): View {
  if (view !== undefined && Object.hasOwn(views, view)) return view as View;
  return span !== undefined ? "spans" : test !== undefined || check !== undefined ? "evaluation" : first;
}

/** Returns the same object while the selection is the same. */
function useSelection(span: string | undefined, attribute: string | undefined): Selection | undefined {
  return useMemo(
    () => (span === undefined ? undefined : { span, attribute: attribute ?? null }),
    [span, attribute],
  );
}

function NoSpan({ isMissing }: { isMissing: boolean }) {
  return (
    <EmptyState icon="search" title={isMissing ? "This span is not in the trace" : "No span selected"}>
      <p className="quiet">
        {isMissing
          ? "The trace may have been replaced since the link was created. Select another span in the tree."
          : "Select a span in the tree, or evidence in the evaluation."}
      </p>
    </EmptyState>
  );
}
