// The header of a trace: name, verdict, key facts and actions.
import { useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import type { TraceOutline } from "../../../src/http/traces/schemas.ts";
import { durationText, numberText } from "../../format.ts";
import { ConfirmDialog } from "../../forms/ConfirmDialog.tsx";
import { countsText, tracePaths } from "../../labels.ts";
import { deleteTrace } from "../../mutations/traces.ts";
import { outlineQuery } from "../../queries/traces.ts";
import { Badge, Verdict } from "../../ui/Badge.tsx";
import { Button } from "../../ui/Button.tsx";
import { CopyText } from "../../ui/Copy.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { useMedia } from "../../ui/media.ts";
import { NextTry, RelativeTime } from "../../ui/Time.tsx";
import { toast } from "../../ui/Toast.tsx";
import { lastFiltersByAgent } from "../traces/last-filters.ts";
import { BackToTraces } from "./BackToTraces.tsx";
import { timesText, tokensText } from "./words.ts";

const route = getRouteApi("/member/projects/$projectId/agents/$agentId/traces/$traceId");
const testRun = { text: "Test run", icon: "play" } as const;
const failedSpan = { text: "Failed span", icon: "warning", tone: "bad" } as const;

export function TraceHeader({ trace }: { trace: TraceOutline }) {
  const { traceId: _, ...params } = route.useParams();
  const [deleting, setDeleting] = useState(false);
  const tight = useMedia("(max-width: 1279px)");
  const { run } = trace;
  const manualRun = trace.runs.find(({ launchId }) => launchId !== null);
  return (
    <header className="trace-top">
      <div className="trace-title">
        <BackToTraces className="trace-back small">
          <Icon name="chevron" />
          Traces
        </BackToTraces>
        <h1 title={trace.name}>{trace.name || "Unnamed"}</h1>
        <span className="line">
          <Verdict run={run} />
          {run?.waiting && (
            <span className="small">
              <NextTry at={run.waiting.nextTryAt} />
            </span>
          )}
          {run?.counts && <span className="small">{countsText(run.counts) || "no test applied"}</span>}
          {trace.failed && <Badge word={failedSpan} />}
          {trace.kind === "test_run" && <Badge word={testRun} />}
        </span>
        <span className="line trace-actions">
          {manualRun?.launchId && (
            <Link
              to="/projects/$projectId/agents/$agentId/runs/$launchId/$runId"
              params={{ ...params, launchId: manualRun.launchId, runId: manualRun.id }}
              className="button button-small"
            >
              Open test run
            </Link>
          )}
          <Link
            to="/projects/$projectId/agents/$agentId/tests/$testId"
            params={{ ...params, testId: "new" }}
            search={{ trace: trace.id }}
            className="button button-small"
            aria-label="Create test from this trace"
          >
            <Icon name="plus" />
            Create test
          </Link>
          <Button small look="plain" icon="trash" onClick={() => setDeleting(true)}>
            Delete
          </Button>
        </span>
      </div>
      <div className="trace-facts-line">
        <Facts trace={trace} all={!tight} />
        <Details trace={trace} facts={tight} />
      </div>
      {deleting && <DeleteTrace trace={trace} onClose={() => setDeleting(false)} />}
    </header>
  );
}

function Facts({ trace, all }: { trace: TraceOutline; all: boolean }) {
  const { durationMs, tokens, httpStatus, spanCount, receivedAt } = trace;
  return (
    <dl className="trace-facts">
      <Fact name="Duration">{durationMs === null ? <None /> : durationText(durationMs)}</Fact>
      <Fact name="Tokens">
        {tokensText(tokens) ?? <None />}
        {tokens.reasoning !== null && (
          <span className="quiet"> ({numberText(tokens.reasoning)} reasoning)</span>
        )}
      </Fact>
      <Fact name="HTTP status">{httpStatus ?? <None />}</Fact>
      <Fact name="Spans">{numberText(spanCount)}</Fact>
      <Fact name="Received">
        <RelativeTime at={receivedAt} />
      </Fact>
      {all && <MoreFacts trace={trace} />}
    </dl>
  );
}

function MoreFacts({ trace }: { trace: TraceOutline }) {
  const { path, kind, revision } = trace;
  const changes = revision - 1;
  return (
    <>
      <Fact name="Path">
        {tracePaths[path]}
        {kind === "test_run" && ", test run"}
      </Fact>
      <Fact name="Revision">
        {numberText(revision)}
        {changes > 0 && (
          <span className="quiet">
            {" "}
            ({path === "otlp" ? "merged" : "replaced"} {timesText(changes)})
          </span>
        )}
      </Fact>
      <Fact name="Trace ID">
        <CopyText text={trace.id} label="trace id" />
      </Fact>
      <Fact name="External ID">
        <CopyText text={trace.externalId} label="external ID" />
      </Fact>
    </>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function None() {
  return (
    <span className="quiet">
      <span aria-hidden="true">–</span>
      <span className="unseen">not available</span>
    </span>
  );
}

const list = new Intl.ListFormat("en-US");

/** Metadata and resource, folded; in narrow windows with the less important facts. */
function Details({ trace, facts }: { trace: TraceOutline; facts: boolean }) {
  const { metadata, resource, cuts, omissions } = trace;
  const parts = { Metadata: metadata, Resource: resource };
  const present = Object.entries(parts).filter(([, part]) => part !== null && Object.keys(part).length > 0);
  if (present.length === 0 && !facts) return null;
  const isCut = cuts.length + omissions.length > 0;
  return (
    <details className="trace-context">
      <summary>{list.format([...(facts ? ["More"] : []), ...present.map(([name]) => name)])}</summary>
      {facts && (
        <dl className="trace-facts-line">
          <MoreFacts trace={trace} />
        </dl>
      )}
      {isCut && <p className="quiet small">Truncated. The download under Raw JSON is complete.</p>}
      <div className="trace-context-parts">
        {present.map(([name, part]) => (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard.
          <section key={name} tabIndex={0} aria-label={name}>
            <h2 className="small">{name}</h2>
            <pre>{JSON.stringify(part, null, 2)}</pre>
          </section>
        ))}
      </div>
    </details>
  );
}

/** Names that cannot be typed are not asked for. */
const typeable = /^[\p{L}\p{N}\p{P}\p{S} ]{1,60}$/u;

function DeleteTrace({ trace, onClose }: { trace: TraceOutline; onClose: () => void }) {
  const { traceId: _, ...params } = route.useParams();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const name = trace.name.trim();
  return (
    <ConfirmDialog
      title="Delete trace"
      about="Also deletes its spans, runs and results. Past statistics are kept. This cannot be undone."
      name={typeable.test(name) ? name : "delete"}
      send={() => deleteTrace(trace.id)}
      action="Delete trace"
      onClose={onClose}
      onDone={async () => {
        const search = lastFiltersByAgent.get(params.agentId) ?? {};
        await navigate({ to: "/projects/$projectId/agents/$agentId/traces", params, search });
        toast("Trace deleted");
        queries.removeQueries({ queryKey: outlineQuery(trace.id).queryKey.slice(0, 2) });
        await queries.invalidateQueries({ queryKey: ["agents", trace.agentId] });
      }}
    />
  );
}
