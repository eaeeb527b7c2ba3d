// One rejected request: its service name, key and code, the reason, and the fix.
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { LastRejection } from "../../../src/http/ingestion/schemas.ts";
import type { Agent } from "../../../src/model/agent/agent.ts";
import { exactMomentText } from "../../format.ts";
import { oldNameRejected, useSetServiceName } from "../../forms/service-name.ts";
import { verificationQuery } from "../../queries/account.ts";
import { keysQuery } from "../../queries/keys.ts";
import { explained } from "../../refusals.ts";
import { isDefaultName, isUsableName } from "../../service-names.ts";
import { verifiedText, WhereTheLinkIs } from "../../shell/VerificationBanner.tsx";
import { Button } from "../../ui/Button.tsx";
import { CopyText } from "../../ui/Copy.tsx";
import { FailureNotice, Notice } from "../../ui/Notice.tsx";
import { Paths } from "../ingestion/Paths.tsx";
import { environmentOf } from "./snippets.ts";

type RejectionProps = { rejected: LastRejection; agent: Agent; onNewKey: () => void };

export function Rejection({ rejected, agent, onNewKey }: RejectionProps) {
  const { at, code, serviceName, keyId, keyName, paths, requestId } = rejected;
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
        <dd>{keyName === null ? "Revoked" : <KeyName name={keyName} masked={key?.masked} />}</dd>
        <dt>Code</dt>
        <dd>
          <code>{code}</code>
        </dd>
        {paths.length > 0 && (
          <>
            <dt>Invalid</dt>
            <dd>
              <Paths paths={paths} />
            </dd>
          </>
        )}
        <dt>Time</dt>
        <dd>
          <time dateTime={at}>{exactMomentText(at)}</time>
        </dd>
        <dt>Request</dt>
        <dd>
          <code className="break">{requestId}</code>
        </dd>
      </dl>
      <p>
        {why} {remedy}
      </p>
      <Fix rejected={rejected} agent={agent} onNewKey={onNewKey} />
      <p className="small">
        <Link
          to="/projects/$projectId/ingestion"
          params={{ projectId: agent.projectId }}
          search={serviceName === null ? { code } : { service: serviceName }}
        >
          Open in ingestion log
        </Link>
      </p>
    </div>
  );
}

function KeyName({ name, masked }: { name: string; masked: string | undefined }) {
  return (
    <span>
      <span className="break">{name}</span> {masked && <code className="quiet">{masked}</code>}
    </span>
  );
}

/** The fix that is possible on this page. */
function Fix({ rejected: { code, serviceName }, agent, onNewKey }: RejectionProps) {
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
          <CopyText text={agent.id} label="agent ID" />
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
  const { busy, failure, set } = useSetServiceName(agent, serviceName);
  if (agent.otlpServiceName === serviceName) {
    return (
      <Notice tone="good" role="status">
        <strong className="start-name">{serviceName}</strong> is now this agent’s service name.{" "}
        <strong>Send the trace again.</strong>
      </Notice>
    );
  }
  if (isDefaultName(serviceName)) {
    return (
      <>
        <p>Exporters send this name when no service name is set.</p>
        <OwnName agent={agent} />
      </>
    );
  }
  if (!isUsableName(serviceName)) return null;
  return (
    <div className="stack-tight">
      <div>
        <Button look="main" className="start-fix" busy={busy} onClick={set}>
          Use “{serviceName}” as this agent’s service name
        </Button>
      </div>
      {agent.otlpServiceName && (
        <p className="quiet small">
          Replaces <code className="start-name">{agent.otlpServiceName}</code>. {oldNameRejected}
        </p>
      )}
      <FailureNotice failure={failure} />
    </div>
  );
}

function OwnName({ agent }: { agent: Agent }) {
  if (agent.otlpServiceName === null) return <p>First set this agent’s service name in step 1.</p>;
  return <CopyText text={environmentOf(agent.otlpServiceName)} label="environment variable" />;
}

function Unverified() {
  const { data: verification } = useQuery(verificationQuery);
  if (!verification) return null;
  if (verification.verified) {
    return (
      <Notice tone="good" role="status">
        Email verified. {verifiedText}
      </Notice>
    );
  }
  return (
    <p>
      <WhereTheLinkIs verification={verification} /> <Link to="/verify-email">Resend the link</Link>
    </p>
  );
}

function NewKey({ onNewKey }: { onNewKey: () => void }) {
  return (
    <div>
      <Button icon="key" onClick={onNewKey}>
        New key for this agent
      </Button>
    </div>
  );
}
