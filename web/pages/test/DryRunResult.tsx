// What a dry-run came to: the outcome, whether the test would apply, and each check with what it saw.
import { Link } from "@tanstack/react-router";
import type { Check, Evidence } from "../../../src/model/run.ts";
import { checkTypes, outcomes, whys } from "../../labels.ts";
import type { DryRun } from "../../queries/editor.ts";
import { Badge } from "../../ui/Badge.tsx";
import { Icon } from "../../ui/Icon.tsx";

type Place = { projectId: string; agentId: string };

export function DryRunResult({ run, place }: { run: DryRun; place: Place }) {
  const { result, applicability } = run;
  return (
    <div className="stack">
      <div className="line">
        <Badge word={outcomes[result.outcome]} />
        <span className="break">{result.reason}</span>
      </div>
      {applicability && (
        <p className="break">
          <Icon name={applicability.applied ? "check" : "skip"} />{" "}
          <strong>{applicability.applied ? "Would apply." : "Would not apply."}</strong>{" "}
          {whys[applicability.why]} {applicability.reason}
        </p>
      )}
      <ol className="editor-checks">
        {result.checks.map(check => (
          <CheckItem key={check.id} check={check} place={{ ...place, traceId: run.traceId }} />
        ))}
      </ol>
    </div>
  );
}

function CheckItem({ check, place }: { check: Check; place: Place & { traceId: string } }) {
  const places = check.evidence.slice(0, evidenceMax);
  return (
    <li className="stack-tight">
      <div className="line">
        <Badge word={outcomes[check.outcome]} />
        <strong>{checkTypes[check.type]}</strong>
        <code className="quiet break">{check.id}</code>
      </div>
      <p className="break">{check.reason}</p>
      <dl className="editor-facts">
        <Fact term="Expected" value={check.expected} />
        <Fact term="Actual" value={check.actual} />
        {places.length > 0 && (
          <div>
            <dt>Looked at</dt>
            <dd className="line">
              {places.map((evidence, at) => (
                <EvidenceLink key={at} evidence={evidence} place={place} />
              ))}
              {check.evidence.length > places.length && (
                <span className="quiet small">and {check.evidence.length - places.length} more</span>
              )}
            </dd>
          </div>
        )}
      </dl>
    </li>
  );
}

const evidenceMax = 8;

function Fact({ term, value }: { term: string; value: unknown }) {
  if (value === undefined || value === null) return null;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return (
    <div>
      <dt>{term}</dt>
      <dd>
        <code className="break">{text.length > shownMax ? `${text.slice(0, shownMax)}…` : text}</code>
      </dd>
    </div>
  );
}

const shownMax = 400;

type EvidenceProps = { evidence: Evidence; place: Place & { traceId: string } };

/** In a window of its own, so that what is being written stays. */
function EvidenceLink({ evidence, place }: EvidenceProps) {
  const { spanId, attribute } = evidence;
  return (
    <Link
      to="/projects/$projectId/agents/$agentId/traces/$traceId"
      params={place}
      search={{ span: spanId, attribute: attribute ?? undefined }}
      target="_blank"
      className="small break"
    >
      {attribute ?? "span"} <span className="quiet">at {spanId}</span>
      <span className="unseen"> (opens in a new window)</span>
    </Link>
  );
}
