// The last step: listens for requests and shows the result of the latest one.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { ListedTrace } from "../../../src/http/traces/schemas.ts";
import type { Agent } from "../../../src/model/agent/agent.ts";
import type { Failure } from "../../api.ts";
import { ContentOff } from "../../forms/ContentOff.tsx";
import { ReadIt } from "../../forms/ReadIt.tsx";
import { counted } from "../../labels.ts";
import type { LiveState } from "../../live-state.ts";
import { sendSampleTrace } from "../../mutations/agents.ts";
import { verificationQuery } from "../../queries/account.ts";
import { lastTracesQuery } from "../../queries/agents.ts";
import { outlineQuery } from "../../queries/traces.ts";
import { ingestionWord } from "../../refusals.ts";
import { Badge, Verdict } from "../../ui/Badge.tsx";
import { Button } from "../../ui/Button.tsx";
import { FailureNotice } from "../../ui/Notice.tsx";
import { RelativeTime } from "../../ui/Time.tsx";
import type { LatestRequests } from "./latest-requests.ts";
import { Rejection } from "./Rejection.tsx";

type LiveProps = { agent: Agent; latest: LatestRequests; onNewKey: () => void };

export function Live({ agent, latest, onNewKey }: LiveProps) {
  const { live, received, isFirst, rejected, receivedSince } = latest;
  const rejection = rejected && <Rejection rejected={rejected} agent={agent} onNewKey={onNewKey} />;
  return (
    <div className="stack">
      <div role="status">
        <h3 className="line">
          {rejected && !receivedSince ? (
            <>
              <Badge word={ingestionWord(rejected.code)} /> <RelativeTime at={rejected.at} />
            </>
          ) : received ? (
            <>
              <Badge word={{ text: receivedText(received, isFirst), icon: "check", tone: "good" }} />{" "}
              <RelativeTime at={received.receivedAt} />
            </>
          ) : (
            <>
              <Badge word={{ text: "Listening", icon: "clock", tone: "info" }} /> Waiting for the first trace
            </>
          )}
        </h3>
      </div>
      {!receivedSince && rejection}
      {received && (!rejected || receivedSince) && <Received agent={agent} trace={received} />}
      {rejected && receivedSince && (
        <details>
          <summary>
            A request was rejected <RelativeTime at={rejected.at} />: <code>{rejected.code}</code>
          </summary>
          <div className="start-inner">{rejection}</div>
        </details>
      )}
      <p className="small quiet">{liveTexts[live]}</p>
      {received === null && !rejected && <NothingHere />}
      {!received && <SendSample agent={agent} />}
    </div>
  );
}

function receivedText({ externalId }: ListedTrace, isFirst: boolean): string {
  if (isSample(externalId)) return "Sample trace received";
  return isFirst ? "First trace received" : "Latest trace received";
}

function isSample(externalId: string): boolean {
  return externalId.startsWith("sample-");
}

function Received({ agent, trace }: { agent: Agent; trace: ListedTrace }) {
  const params = { projectId: agent.projectId, agentId: agent.id };
  return (
    <div className="stack">
      <dl className="facts">
        <dt>Trace</dt>
        <dd className="break">{trace.name}</dd>
        <dt>Spans</dt>
        <dd>{counted(trace.spanCount, "span")}</dd>
        <dt>Verdict</dt>
        <dd>
          <Verdict run={trace.run} />
        </dd>
      </dl>
      <Recognized traceId={trace.id} />
      <div className="line">
        <Link
          to="/projects/$projectId/agents/$agentId/traces/$traceId"
          params={{ ...params, traceId: trace.id }}
          className="button"
          data-look="main"
        >
          Open trace
        </Link>
        {isSample(trace.externalId) && <SendSample agent={agent} again />}
      </div>
    </div>
  );
}

/** Offers to read the convention that the trace is written in, and says how messages are switched on. */
function Recognized({ traceId }: { traceId: string }) {
  const { data: trace } = useQuery(outlineQuery(traceId));
  if (!trace) return null;
  return (
    <>
      {trace.readable.length > 0 && <ReadIt trace={trace} />}
      {trace.contentSwitches.length > 0 && <ContentOff trace={trace} />}
    </>
  );
}

const liveTexts: Record<LiveState, string> = {
  connecting: "Connecting…",
  live: "Live: requests appear here immediately.",
  polling: "No live connection. Checking every 5 seconds.",
};

function NothingHere() {
  return (
    <p className="small quiet">
      Nothing here? Check the response: 401 means the key is missing or invalid. Send the full key in{" "}
      <code>x-api-key</code> (not Authorization). Traces sent with another project’s key appear in that
      project.
    </p>
  );
}

export function SendSample({ agent, again = false }: { agent: Agent; again?: boolean }) {
  const queries = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  const { data: verification } = useQuery(verificationQuery);
  async function send(): Promise<void> {
    setBusy(true);
    setFailure(undefined);
    const answer = await sendSampleTrace(agent.id);
    if (answer.ok) await queries.invalidateQueries({ queryKey: lastTracesQuery(agent.id).queryKey });
    else setFailure(answer.failure);
    setBusy(false);
  }
  if (verification?.verified === false) {
    return <p className="small quiet">You can send a sample trace once your email is verified.</p>;
  }
  return (
    <div className="stack-tight">
      {!again && <p className="small quiet">No integration yet? Try a sample trace.</p>}
      <div>
        <Button busy={busy} onClick={() => void send()}>
          {again ? "Send another sample" : "Send sample trace"}
        </Button>
      </div>
      <FailureNotice failure={failure} />
    </div>
  );
}
