// The panes of a trace: three side by side where there is room, else two or one, with the views in the address.
import { getRouteApi, Link } from "@tanstack/react-router";
import { type ReactNode, type RefObject, useEffect, useMemo, useRef } from "react";
import type { TraceOutline } from "../../shapes.ts";
import { useShortcut } from "../../shell/shortcuts.ts";
import { useMedia } from "../../ui/media.ts";
import { EmptyState } from "../../ui/State.tsx";
import { ConversationView } from "./ConversationView.tsx";
import { EvaluationPanel } from "./EvaluationPanel.tsx";
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
  const navigate = route.useNavigate();
  const wide = useMedia("(min-width: 1280px)");
  const narrow = useMedia("(max-width: 767px)");
  const view = viewOf(search);
  const selected = useSelection(search.span, search.attribute);
  const { spans, rootSpanId, runs } = trace;
  const tree = useMemo(() => buildTree(spans, rootSpanId), [spans, rootSpanId]);
  const pointed = useMemo(() => pointedSpans(shownRun(runs, search.run)), [runs, search.run]);

  const go = (to: View) => void navigate({ search: prev => ({ ...prev, view: to }), resetScroll: false });
  useShortcut("v c", "View the conversation", () => go("conversation"));
  useShortcut("v s", "View the spans", () => go("spans"));
  useShortcut("v e", "View the evaluation", () => go("evaluation"));
  useShortcut("v r", "View the raw JSON", () => go("raw"));

  const spanPane = useRef<HTMLDivElement>(null);
  const reveal = useRef(search.span !== undefined);
  function select({ span, attribute }: Selection, how: "click" | "move" = "click", to: View = "spans"): void {
    reveal.current = how === "click";
    void navigate({
      search: prev => ({ ...prev, span, attribute: attribute ?? undefined, view: to }),
      replace: how === "move",
      resetScroll: false,
    });
  }
  // One below the other: what was chosen is further down.
  useEffect(() => {
    if (!narrow || !selected || !reveal.current) return;
    reveal.current = false;
    spanPane.current?.scrollIntoView({ block: "start" });
  }, [narrow, selected]);

  const spanTree = (
    <SpanTree
      tree={tree}
      pointed={pointed}
      selected={search.span}
      find={search.find ?? ""}
      onFind={find =>
        void navigate({
          search: prev => ({ ...prev, find: find || undefined }),
          replace: true,
          resetScroll: false,
        })
      }
      onSelect={(span, how) => select({ span }, how)}
    />
  );
  const conversation = <ConversationView trace={trace} onSelect={selection => select(selection)} />;
  const span =
    selected && tree.positions.has(selected.span) ? (
      <SpanPanel
        trace={trace}
        selected={selected}
        onSelect={selection => select(selection, "click", view === "evaluation" ? view : "spans")}
      />
    ) : (
      <NoSpan lost={selected !== undefined} />
    );
  const evaluation = (
    <EvaluationPanel
      trace={trace}
      runId={search.run}
      testId={search.test}
      selected={selected}
      // Of two panes the evaluation stays beside what it points to.
      onSelect={selection => select(selection, "click", wide || narrow ? "spans" : "evaluation")}
    />
  );
  const raw = <RawView trace={trace} />;
  const chosen =
    view === "evaluation" ? (selected ? span : conversation) : { conversation, spans: span, raw }[view];

  if (wide) {
    const current = view !== "evaluation" ? view : selected ? "spans" : "conversation";
    return (
      <div className="trace-panes" data-panes="3">
        <Pane label="Tree">{spanTree}</Pane>
        <Pane
          label={current === "spans" ? "Span" : views[current]}
          tabs={<Views current={current} shown={["conversation", "spans", "raw"]} spans="Span" />}
          scrolls
        >
          {chosen}
        </Pane>
        <Pane label="Evaluation" scrolls>
          {evaluation}
        </Pane>
      </div>
    );
  }
  const treePane = <Pane label="Tree">{spanTree}</Pane>;
  const conversationPane = (
    <Pane label="Conversation" scrolls>
      {conversation}
    </Pane>
  );
  const evaluationPane = (
    <Pane label="Evaluation" scrolls>
      {evaluation}
    </Pane>
  );
  const spanOwnPane = (
    <Pane label="Span" scrolls pane={spanPane}>
      {span}
    </Pane>
  );
  return (
    <>
      <Views current={view} shown={["conversation", "spans", "evaluation", "raw"]} />
      <div className="trace-panes" data-panes={narrow || view === "raw" ? "1" : "2"}>
        {view === "conversation" && conversationPane}
        {view === "conversation" && !narrow && evaluationPane}
        {view === "spans" && treePane}
        {view === "spans" && spanOwnPane}
        {view === "evaluation" && evaluationPane}
        {view === "evaluation" && !narrow && (selected ? spanOwnPane : conversationPane)}
        {view === "raw" && (
          <Pane label="Raw JSON" scrolls>
            {raw}
          </Pane>
        )}
      </div>
    </>
  );
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
  label: string;
  tabs?: ReactNode;
  /** Its content moves in it; else that looks after itself. */
  scrolls?: boolean;
  pane?: RefObject<HTMLDivElement | null>;
  children: ReactNode;
};

function Pane({ label, tabs, scrolls = false, pane, children }: PaneProps) {
  return (
    <div className="pane" ref={pane}>
      {tabs}
      {scrolls ? (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard.
        <section className="pane-body" tabIndex={0} aria-label={label}>
          {children}
        </section>
      ) : (
        <section className="spans" aria-label={label}>
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
