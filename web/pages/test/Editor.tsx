// The test case editor: form, JSON and dry run of one document, with saving and shortcuts.
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useCallback, useEffect, useMemo, useReducer, useRef, useState } from "react";
import { useOpenTest } from "../../forms/open-test.ts";
import { useUnsavedChanges } from "../../forms/unsaved.ts";
import { useShortcut } from "../../shell/shortcuts.ts";
import { Button } from "../../ui/Button.tsx";
import { FailureNotice, Notice } from "../../ui/Notice.tsx";
import { Page } from "../../ui/Page.tsx";
import { useHasJudge } from "../judge-usage/NoJudge.tsx";
import { FailingNotice } from "../tests/Failing.tsx";
import { Actions } from "./Actions.tsx";
import { BacktestPanel } from "./BacktestPanel.tsx";
import { DryRunPanel, traceGone } from "./DryRunPanel.tsx";
import { useSame } from "./debounced.ts";
import { assertionsOf, begin, blank, edit, freeId, textOf } from "./document.ts";
import { EditorContext, type EditorFacts, fieldOf } from "./editor-context.ts";
import { Form } from "./Form.tsx";
import { useFindings } from "./findings.ts";
import { useFolds } from "./folds.ts";
import { IssueList } from "./IssueList.tsx";
import { JsonPane, selectPlace } from "./JsonPane.tsx";
import { asksForMessage, withMessage } from "./message.ts";
import { nextTraceText } from "./next-trace.ts";
import { useIssuesRevealed, useRequestedFocus } from "./reveal.ts";
import { Status } from "./Status.tsx";
import { ConflictDialog, useSave } from "./save.tsx";
import { useScenarioTrial } from "./scenario-trial.ts";
import { firstOpen, foldsOf } from "./sections.ts";
import type { Origin } from "./TestPage.tsx";
import { TryScenario, tryScenarioId } from "./TryScenario.tsx";
import { useIsCallable } from "./use-is-callable.ts";
import { useView, Views } from "./views.tsx";
import { useVisited } from "./visited.ts";

const route = getRouteApi("/member/projects/$projectId/agents/$agentId/tests/$testId");

const editorRoute = "/projects/$projectId/agents/$agentId/tests/$testId";

type EditorProps = {
  origin: Origin;
  /** Called with the id of a newly saved test, before its URL is opened. */
  onCreated: (id: string) => void;
};

export function Editor({ origin, onCreated }: EditorProps) {
  const { projectId, agentId } = route.useParams();
  const search = route.useSearch();
  const navigate = useNavigate({ from: editorRoute });
  const [editing, change] = useReducer(edit, origin, opened);
  const [traceId, setTraceId] = useState(search.trace);
  const [inputRow, setInputRow] = useState<{ row: number }>();
  const focusInput = useCallback((row: number) => setInputRow({ row }), []);
  const { visited, visit } = useVisited();
  const area = useRef<HTMLTextAreaElement>(null);
  const editor = useRef<HTMLDivElement>(null);
  const folds = useFolds(() => firstOpen(origin.document));

  const hasJudge = useHasJudge(projectId);
  const isCallable = useIsCallable(agentId);
  const asks = isCallable === undefined ? undefined : asksForMessage(editing.document, isCallable);
  const document = useMemo(
    () => (asks === false ? withMessage(editing.document) : editing.document),
    [asks, editing.document],
  );
  const sent = useMemo(() => ({ ...editing, document }), [editing, document]);
  useDraftParametersDropped(search);
  useRequestedFocus(editor, editing.focus, folds);

  const [view, inView] = useView();
  const goTo = (path: string) => {
    const inJson = () =>
      inView("json", () => area.current && selectPlace(area.current, textOf(editing), path));
    if (view === "json") return inJson();
    inView("form", () =>
      folds.reveal(foldsOf(path, editing), () => {
        // The row may be out of sight, and then has no field yet.
        const row = /^inputs\[(\d+)\]/.exec(path)?.[1];
        const field = editor.current && fieldOf(editor.current, path);
        if (row !== undefined) focusInput(Number(row));
        else if (field) focusField(field);
        // What has no field in the form is only in the JSON.
        else inJson();
      }),
    );
  };
  const trial = useScenarioTrial(agentId);
  const { scenario } = editing.document;
  const tryScenario = () =>
    inView("try", () => {
      window.document.getElementById(tryScenarioId)?.focus();
      if (typeof scenario === "string") void trial.estimate(scenario);
    });
  const save = useSave({
    ...{ origin, agentId, editing, document, hasJudge, change },
    onFaults: goTo,
    onSaved: id => {
      onCreated(id);
      return navigate({
        to: editorRoute,
        params: { projectId, agentId, testId: id },
        search: { trace: traceId, ...keptOf(search) },
        replace: true,
        resetScroll: false,
        ignoreBlocker: true,
      });
    },
  });
  useUnsavedChanges(save.isDirty);
  useOpenTest(save.stored?.id, save.setStatus);
  /** Saves, unless the JSON or a field cannot be parsed: then focuses it. */
  const trySave = () => {
    const unread = editor.current?.querySelector<HTMLElement>("[data-unread]");
    if (editing.fault) inView("json", () => area.current?.focus());
    else if (unread) inView("form", () => focusField(unread));
    else void save.send();
  };
  useShortcut("mod+s", "Save test case", () => {
    if (!window.document.querySelector("[role=dialog], [role=alertdialog]")) trySave();
  });

  const { tried } = save;
  const isUntouched = editing.document === blank && !tried && visited.size === 0;
  const { validated, issues, warnings, restsOn, vocabulary } = useFindings(agentId, document, isUntouched);
  useIssuesRevealed({ issues, isDue: tried || origin.draftedFrom !== undefined, view, editing, folds });
  const threshold = useSame(editing.document["threshold"] ?? 0.7);
  const context: EditorFacts = useMemo(
    () => ({
      ...{ issues, warnings, vocabulary, restsOn, threshold, change, folds, inputRow, focusInput },
      isDue: path => tried || visited.has(path),
    }),
    [issues, warnings, tried, visited, vocabulary, restsOn, threshold, folds, inputRow, focusInput],
  );
  const name = save.stored?.name ?? "New test case";
  return (
    <div className="editor page-wide" data-view={view} ref={editor}>
      <Page
        title={name}
        beside={<Status document={editing.document} change={change} />}
        about={nextTraceText(validated, document, hasJudge, save.stored === null || save.isDirty)}
        actions={<SaveActions save={save} onSave={trySave} />}
      >
        <div className="stack">
          {origin.failure?.code === "NOT_FOUND" ? (
            <Notice tone="warn">{traceGone} Nothing was drafted.</Notice>
          ) : (
            <FailureNotice failure={origin.failure} />
          )}
          <FailureNotice failure={save.failure} />
          {save.stored && <FailingNotice params={{ projectId, agentId, testId: save.stored.id }} />}
          {save.tried && issues.length > 0 && (
            <Notice tone="bad" role="alert">
              <p>Not saved. Fix these first:</p>
              <IssueList issues={issues} onGo={goTo} />
            </Notice>
          )}
          <Views view={view} />
          <div className="editor-panes">
            <form
              className="editor-pane"
              data-pane="form"
              aria-label="Form"
              onSubmit={event => event.preventDefault()}
              onBlur={visit}
            >
              {editing.fault && (
                <Notice tone="warn">
                  The JSON is invalid; the form shows the last valid version. Editing the form overwrites the
                  JSON.
                </Notice>
              )}
              <EditorContext value={context}>
                <Form
                  projectId={projectId}
                  agentId={agentId}
                  editing={editing}
                  asks={asks}
                  onTryScenario={tryScenario}
                />
              </EditorContext>
            </form>
            {view === "json" && (
              <div className="editor-pane" data-pane="json">
                <JsonPane editing={editing} issues={issues} warnings={warnings} change={change} area={area} />
              </div>
            )}
            <div className="editor-pane" data-pane="try">
              <DryRunPanel
                projectId={projectId}
                agentId={agentId}
                editing={sent}
                traceId={traceId}
                draftedFrom={origin.draftedFrom}
                mustFail={origin.mustFail}
                onPath={goTo}
                onTrace={id => {
                  setTraceId(id);
                  if (save.stored) void navigate({ search: was => ({ ...was, trace: id }), replace: true });
                }}
              />
              <BacktestPanel agentId={agentId} stored={save.stored} editing={sent} onPath={goTo} />
              <TryScenario scenario={scenario} control={trial} />
            </div>
          </div>
        </div>
      </Page>
      <ConflictDialog save={save} />
    </div>
  );
}

function SaveActions({ save, onSave }: { save: ReturnType<typeof useSave>; onSave: () => void }) {
  return (
    <>
      <span className="quiet small" role="status">
        {save.isDirty ? "Unsaved changes" : save.stored ? "Saved" : ""}
      </span>
      {save.stored && <Actions stored={save.stored} isDirty={save.isDirty} save={save} />}
      <Button look="main" busy={save.busy} onClick={onSave}>
        Save
      </Button>
    </>
  );
}

type Search = ReturnType<typeof route.useSearch>;

/** The view and what is tried in it. */
function keptOf({ view, inputs, backtest, group }: Search): Search {
  return { view, inputs, backtest, group };
}

function opened(origin: Origin) {
  const editing = begin(origin.document);
  if (!origin.assertion) return editing;
  const value = { id: freeId(origin.document), ...origin.assertion };
  const at = assertionsOf(origin.document).length;
  return edit(editing, { kind: "insert", at, value, isFromTrace: true });
}

function focusField(field: HTMLElement): void {
  field.closest("details")?.setAttribute("open", "");
  field.focus();
}

/** Drafts an assertion once: removes from the URL what asked for it, and keeps the trace. */
function useDraftParametersDropped({ span }: { span?: string | undefined }): void {
  const navigate = useNavigate({ from: editorRoute });
  useEffect(() => {
    if (span === undefined) return;
    // The page stays scrolled to the new assertion.
    void navigate({
      search: was => ({ trace: was.trace, ...keptOf(was) }),
      replace: true,
      resetScroll: false,
    });
  }, [span, navigate]);
}
