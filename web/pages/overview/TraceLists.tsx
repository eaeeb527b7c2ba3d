// The newest failures and the slowest traces.
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { TraceBrief } from "../../../src/http/projects/overview-schemas.ts";
import { durationText, numberText } from "../../format.ts";
import { RelativeTime } from "../../ui/Time.tsx";
import { TraceText } from "../../ui/TraceText.tsx";
import { tracesOf } from "./lists.ts";
import { CountLink, type Params, Section, type SectionProps } from "./parts.tsx";
import { traceTitle } from "./words.ts";

export function Failures({ overview, params }: SectionProps) {
  const { failures, results } = overview;
  return (
    <Section title="Newest failures">
      {failures.length === 0 ? (
        <p className="quiet">No trace failed.</p>
      ) : (
        <ul className="overview-list">
          {failures.map(({ failedTests, ...trace }) => (
            <TraceRow
              key={trace.id}
              trace={trace}
              params={params}
              end={<RelativeTime at={trace.receivedAt} />}
            >
              {failedTests.length > 0 && (
                <span className="quiet small break">{failedTests.map(({ name }) => name).join(", ")}</span>
              )}
            </TraceRow>
          ))}
        </ul>
      )}
      {results.now.counts.failed > failures.length && (
        <span className="small">
          <CountLink params={params} search={tracesOf(overview).failed}>
            All {numberText(results.now.counts.failed)} failed traces
          </CountLink>
        </span>
      )}
    </Section>
  );
}

export function Slowest({ overview: { slowest, traffic }, params }: SectionProps) {
  const { count, atLeast } = traffic.now.traces;
  const isPart = atLeast || count > slowest.searched;
  return (
    <Section title="Slowest traces">
      {isPart && <p className="quiet small">Of the newest {numberText(slowest.searched)}.</p>}
      {slowest.traces.length === 0 ? (
        <p className="quiet">No trace has a duration.</p>
      ) : (
        <ul className="overview-list">
          {slowest.traces.map(trace => (
            <TraceRow
              key={trace.id}
              trace={trace}
              params={params}
              end={durationText(trace.durationMs ?? 0)}
            />
          ))}
        </ul>
      )}
    </Section>
  );
}

type TraceRowProps = { trace: TraceBrief; params: Params; end: ReactNode; children?: ReactNode };

function TraceRow({ trace, params, end, children }: TraceRowProps) {
  const title = traceTitle(trace);
  return (
    <li>
      <div className="overview-row">
        <Link
          className="overview-name"
          title={title}
          to="/projects/$projectId/agents/$agentId/traces/$traceId"
          params={{ ...params, traceId: trace.id }}
        >
          <bdi>
            <TraceText text={title} />
          </bdi>
        </Link>
        <span className="overview-number quiet small">{end}</span>
      </div>
      {children}
    </li>
  );
}
