// One refusal, explained: what was sent, what was wrong with it, and the way on.
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Agent } from "../../../src/model/agent/agent.ts";
import { useGiveServiceName } from "../../forms/service-name.ts";
import { verificationQuery } from "../../queries/account.ts";
import { keysQuery } from "../../queries/keys.ts";
import { explained } from "../../refusals.ts";
import { isDefaultName, isGivable } from "../../service-names.ts";
import { verifiedText, WhereTheLinkIs } from "../../shell/VerificationBanner.tsx";
import { Button } from "../../ui/Button.tsx";
import { CopyText } from "../../ui/Copy.tsx";
import { FailureNotice, Notice } from "../../ui/Notice.tsx";
import type { Refused } from "./happenings.ts";
import { environmentOf } from "./snippets.ts";

type RefusalProps = { refused: Refused; agent: Agent; onNewKey: () => void };

export function Refusal({ refused, agent, onNewKey }: RefusalProps) {
  const { code, serviceName, keyId } = refused;
  const { data: keys = [] } = useInfiniteQuery(keysQuery(agent.projectId));
  const key = keys.find(({ id }) => id === keyId);
  const { why, remedy } = explained[code];
  return (
    <div className="stack">
      <dl className="facts">
        {serviceName !== null && (
          <>
            <dt>Service name</dt>
            <dd>
              <code className="start-name">{serviceName}</code>
            </dd>
          </>
        )}
        <dt>Key</dt>
        <dd>{key ? <KeyName name={key.name} masked={key.masked} /> : "A key that is revoked by now"}</dd>
        <dt>Code</dt>
        <dd>
          <code>{code}</code>
        </dd>
      </dl>
      <p>
        {why} {remedy}
      </p>
      <Fix refused={refused} agent={agent} onNewKey={onNewKey} />
      <p className="small">
        <Link
          to="/projects/$projectId/ingestion"
          params={{ projectId: agent.projectId }}
          search={serviceName === null ? { code } : { service: serviceName }}
        >
          Find it in the ingestion log
        </Link>
      </p>
    </div>
  );
}

function KeyName({ name, masked }: { name: string; masked: string }) {
  return (
    <span>
      <span className="break">{name}</span> <code className="quiet">{masked}</code>
    </span>
  );
}

/** What can be done about it from here. */
function Fix({ refused: { code, serviceName }, agent, onNewKey }: RefusalProps) {
  switch (code) {
    case "OTLP_PLATFORM_NOT_FOUND":
      return serviceName === null ? null : <UnknownName agent={agent} serviceName={serviceName} />;
    case "OTLP_SERVICE_NAME_REQUIRED":
      return <OwnName agent={agent} />;
    case "EMAIL_NOT_VERIFIED":
      return <Unverified />;
    case "CUSTOM_API_PLATFORM_NOT_FOUND":
      return (
        <>
          <CopyText text={agent.id} label="agent id" />
          <NewKey onNewKey={onNewKey} />
        </>
      );
    case "OTLP_PLATFORM_NOT_ALLOWED":
    case "UNAUTHORIZED":
      return <NewKey onNewKey={onNewKey} />;
    default:
      return null;
  }
}

function UnknownName({ agent, serviceName }: { agent: Agent; serviceName: string }) {
  const { busy, failure, give } = useGiveServiceName(agent, serviceName);
  if (agent.otlpServiceName === serviceName) {
    return (
      <Notice tone="good" role="status">
        <strong className="start-name">{serviceName}</strong> is this agent’s service name now.{" "}
        <strong>Now send again.</strong>
      </Notice>
    );
  }
  if (isDefaultName(serviceName)) {
    return (
      <>
        <p>This is what an exporter calls itself that was given no name.</p>
        <OwnName agent={agent} />
      </>
    );
  }
  if (!isGivable(serviceName)) return null;
  return (
    <div className="stack-tight">
      <div>
        <Button look="main" className="start-fix" busy={busy} onClick={give}>
          Use “{serviceName}” as this agent’s service name
        </Button>
      </div>
      {agent.otlpServiceName && (
        <p className="quiet small">
          It takes the place of <code className="start-name">{agent.otlpServiceName}</code>: exporters that
          still send that one will be refused.
        </p>
      )}
      <FailureNotice failure={failure} />
    </div>
  );
}

function OwnName({ agent }: { agent: Agent }) {
  if (agent.otlpServiceName === null) return <p>Give this agent a service name first, under 1.</p>;
  return <CopyText text={environmentOf(agent.otlpServiceName)} label="setting of the service name" />;
}

function Unverified() {
  const { data: verification } = useQuery(verificationQuery);
  if (!verification) return null;
  if (verification.verified) {
    return (
      <Notice tone="good" role="status">
        Your address is verified. {verifiedText}
      </Notice>
    );
  }
  return (
    <p>
      <WhereTheLinkIs verification={verification} /> <Link to="/verify-email">Have it sent again</Link>
    </p>
  );
}

function NewKey({ onNewKey }: { onNewKey: () => void }) {
  return (
    <div>
      <Button icon="key" onClick={onNewKey}>
        Make a key for this agent
      </Button>
    </div>
  );
}
