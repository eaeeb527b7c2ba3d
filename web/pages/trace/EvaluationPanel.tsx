// The evaluation of a trace: tests and checks, worst first, each with its rule, result and evidence.
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useEffect, useMemo, useRef, useState } from "react";
import type { RunDetail } from "../../../src/http/traces/run-schemas.ts";
import type { TraceOutline } from "../../../src/http/traces/schemas.ts";
import { countsText, outcomeWord } from "../../labels.ts";
import { runLabelsQuery } from "../../queries/labels.ts";
import { testsQuery } from "../../queries/tests.ts";
import { resultStatesQuery } from "../../queries/traces.ts";
import { useShortcut } from "../../shell/shortcuts.ts";
import "../../styles/evaluation.css";
import "../../styles/judging.css";
import { Button } from "../../ui/Button.tsx";
import { type Shared, TraceContext } from "./evaluation/context.ts";
import { failedChecks, useFolds } from "./evaluation/folds.ts";
import { JudgeCalls } from "./evaluation/JudgeCalls.tsx";
import { NotRun } from "./evaluation/NotRun.tsx";
import { RunAbout, RunHeader, RunMenu } from "./evaluation/RunHeader.tsx";
import { TestItem } from "./evaluation/TestItem.tsx";
import { Toolbar } from "./evaluation/Toolbar.tsx";
import { NotEvaluated, RunOpen } from "./evaluation/Unjudged.tsx";
import { byWorst } from "./evaluation/words.ts";
import type { Select, Selection } from "./selection.ts";
import { shownRun } from "./tree.ts";

/** More tests are shown on request. */
const shownMax = 50;
type Result = RunDetail["results"][number];

const route = getRouteApi("/member/projects/$projectId/agents/$agentId/traces/$traceId");

export type EvaluationPanelProps = {
  trace: TraceOutline;
  /** The run shown; undefined: the latest completed one, else the latest. */
  runId: string | undefined;
  /** The test that is unfolded and scrolled to at first. */
  testId: string | undefined;
  selected: Selection | undefined;
  onSelect: Select;
  /** The passage marked in the conversation, by its name in the URL. */
  quoted: string | undefined;
  onQuote: (name: string) => void;
};

export function EvaluationPanel(props: EvaluationPanelProps) {
  const { trace, runId, testId, selected, onSelect, quoted, onQuote } = props;
  const { projectId, agentId } = route.useParams();
  const { check, only } = route.useSearch();
  const navigate = route.useNavigate();
  const [all, setAll] = useState(false);
  const run = shownRun(trace.runs, runId);
  const results = run ? run.results.toSorted(byWorst) : [];
  const folds = useFolds(trace.id, results, testId, check);
  const nowOf = useTestsNow(agentId);
  const spanNames = useMemo(
    () => new Map(trace.spans.map(({ spanId, name }) => [spanId, name])),
    [trace.spans],
  );

  const onlyNotPassed = only === "not-passed";
  const shown = onlyNotPassed ? results.flatMap(withoutPassed) : results.map(withChecks);
  const named = shown.findIndex(({ result }) => result.testId === testId);
  const inView = all || named >= shownMax ? shown : shown.slice(0, shownMax);
  const failed = failedChecks(shown);
  const goFailed = useFailedSteps(failed, testId, folds);

  const isLabeled = run?.state === "completed";
  const { data: labels } = useQuery({ ...runLabelsQuery(run?.id ?? ""), enabled: isLabeled });

  const isLatest = run !== undefined && run === shownRun(trace.runs, undefined) && run.state === "completed";
  const hasState = isLatest && run.verdict === "failed" && run.traceId === trace.id;
  const { data: states } = useQuery({ ...resultStatesQuery(trace.id), enabled: hasState });

  const shared: Shared = {
    trace,
    spanNames,
    selected,
    onSelect,
    quoted,
    onQuote,
    onShow: folds.show,
    states: hasState ? states?.items : undefined,
    labeling: isLabeled && labels ? { runId: run.id, labels: labels.items } : undefined,
    params: { projectId, agentId },
  };
  return (
    <TraceContext value={shared}>
      <section className="evaluation" aria-label="Tests and checks">
        <div className="line line-apart">
          <h2>Evaluation</h2>
          {run && <RunMenu run={run} />}
        </div>
        <Announcement run={run} runId={runId} />
        {run ? <RunHeader run={run} latest={trace.runs[0]!} /> : <NotEvaluated />}
        {run && run.state !== "completed" && <RunOpen run={run} />}
        {results.length > 0 && (
          <>
            <Toolbar
              failed={failed.length}
              onlyNotPassed={onlyNotPassed}
              onOnly={on =>
                void navigate({
                  search: now => ({ ...now, only: on ? "not-passed" : undefined }),
                  resetScroll: false,
                })
              }
              onFoldAll={folds.foldAll}
              onGo={goFailed}
            />
            {shown.length === 0 && <p>All evaluated checks passed.</p>}
            <ul className="judged-tests" aria-label="Tests that ran">
              {inView.map(({ result, checks }) => (
                <TestItem
                  key={result.testId}
                  result={result}
                  checks={checks}
                  applicability={run?.tests.find(one => one.testId === result.testId)}
                  now={nowOf(result.testId)}
                  folds={folds}
                />
              ))}
            </ul>
            {inView.length < shown.length && (
              <Button onClick={() => setAll(true)}>Show all {shown.length}</Button>
            )}
          </>
        )}
        <NotRun run={run} nowOf={nowOf} />
        {run && <RunAbout run={run} />}
        {run && <JudgeCalls key={run.id} run={run} />}
      </section>
    </TraceContext>
  );
}

type ShownResult = { result: Result; checks: Result["checks"] };

function withChecks(result: Result): ShownResult {
  return { result, checks: result.checks.toSorted(byWorst) };
}

/** Nothing if the test and all its checks passed. */
function withoutPassed(result: Result): ShownResult[] {
  const checks = withChecks(result).checks.filter(({ outcome }) => outcome !== "passed");
  return result.outcome === "passed" && checks.length === 0 ? [] : [{ result, checks }];
}

/** Goes to the next or the previous failed check, also by keyboard. */
function useFailedSteps(
  failed: ReturnType<typeof failedChecks>,
  testId: string | undefined,
  { show }: Pick<ReturnType<typeof useFolds>, "show">,
) {
  const { check } = route.useSearch();
  const navigate = route.useNavigate();
  const go = (step: 1 | -1) => {
    const at = failed.findIndex(one => one.testId === testId && one.checkId === check);
    const next = failed.at(at < 0 ? (step > 0 ? 0 : -1) : (at + step) % failed.length);
    if (!next) return;
    // Shown once: again after navigating, it would take back the focus from what the next key moved it to.
    if (next === failed[at]) return show(next.testId, next.checkId);
    void navigate({
      search: now => ({ ...now, test: next.testId, check: next.checkId }),
      replace: true,
      resetScroll: false,
    });
  };
  useShortcut("n", "Next failed check", () => go(1));
  useShortcut("p", "Previous failed check", () => go(-1));
  return go;
}

/** A test as it is now; null once it is deleted, undefined while that is not known. */
function useTestsNow(agentId: string) {
  const { data, hasNextPage } = useInfiniteQuery(testsQuery(agentId));
  return useMemo(() => {
    const byId = new Map(data?.map(test => [test.id, test]));
    return (testId: string) => byId.get(testId) ?? (data && !hasNextPage ? null : undefined);
  }, [data, hasNextPage]);
}

/** Announces the verdict to screen readers when it arrives, not when another run is chosen. */
function Announcement({ run, runId }: { run: RunDetail | undefined; runId: string | undefined }) {
  const [text, setText] = useState("");
  const before = useRef({ run, runId });
  useEffect(() => {
    const { run: earlier, runId: chosen } = before.current;
    before.current = { run, runId };
    const isNews = run?.id !== earlier?.id || run?.state !== earlier?.state;
    if (!isNews || chosen !== runId || !run?.verdict || !run.counts) return;
    setText(
      `Evaluated: ${outcomeWord(run.verdict, run.fullyEvaluated).text}. Tests: ${countsText(run.counts)}.`,
    );
  }, [run, runId]);
  return (
    <p role="status" className="unseen">
      {text}
    </p>
  );
}
