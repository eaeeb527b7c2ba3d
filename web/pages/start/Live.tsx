// The last step: listens for what is sent, and says of each what became of it.

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { ListedTrace } from "../../../src/http/traces/schemas.ts";
import type { Agent } from "../../../src/model/agent/agent.ts";
import type { Failure } from "../../api.ts";
import { counted } from "../../labels.ts";
import type { LiveState } from "../../live.ts";
import { sendSampleTrace } from "../../mutations/agents.ts";
import { verificationQuery } from "../../queries/account.ts";
import { lastTraceQuery } from "../../queries/agents.ts";
import { ingestionWord } from "../../refusals.ts";
import { Badge, Verdict } from "../../ui/Badge.tsx";
import { Button } from "../../ui/Button.tsx";
import { FailureNotice } from "../../ui/Notice.tsx";
import { RelativeTime } from "../../ui/Time.tsx";
import type { Happenings } from "./happenings.ts";
import { Judging } from "./Judging.tsx";
import { Refusal } from "./Refusal.tsx";

type LiveProps = { agent: Agent; happenings: Happenings; onNewKey: () => void };

export function Live({ agent, happenings, onNewKey }: LiveProps) {
  const { live, received, isFirst, refused, receivedSince } = happenings;
  const refusal = refused && <Refusal refused={refused} agent={agent} onNewKey={onNewKey} />;
  return (
    <div className="stack">
      <div role="status">
        <h3 className="line">
          {refused && !receivedSince ? (
            <>
              <Badge word={ingestionWord(refused.code)} />{" "}
              <RelativeTime at={new Date(refused.at).toISOString()} />
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
      {!receivedSince && refusal}
      {received && (!refused || receivedSince) && <Received agent={agent} trace={received} />}
      {refused && receivedSince && (
        <details>
          <summary>
            One was refused <RelativeTime at={new Date(refused.at).toISOString()} />:{" "}
            <code>{refused.code}</code>
          </summary>
          <div className="start-inner">{refusal}</div>
        </details>
      )}
      <p className="small quiet">{standings[live]}</p>
      {received === null && <NothingShows />}
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
      {trace.run === null && <Judging agent={agent} />}
      <div className="line">
        <Link
          to="/projects/$projectId/agents/$agentId/traces/$traceId"
          params={{ ...params, traceId: trace.id }}
          className="button"
          data-look="main"
        >
          Open the trace
        </Link>
        <Link
          to="/projects/$projectId/agents/$agentId/tests/$testId"
          params={{ ...params, testId: "new" }}
          search={{ trace: trace.id }}
          className="button"
        >
          Write a test case from it
        </Link>
        {isSample(trace.externalId) && <SendSample agent={agent} again />}
      </div>
    </div>
  );
}

const standings: Record<LiveState, string> = {
  connecting: "Connecting…",
  live: "Live: whatever is sent shows here at once.",
  polling: "Looking every 5 seconds: there is no live connection at the moment.",
};

function NothingShows() {
  return (
    <p className="small quiet">
      Nothing shows at all? A request without a valid key is answered 401 and belongs to no project: look at
      the answer, and whether the header <code>x-api-key</code>, not Authorization, holds the whole key. What
      a key of another project sends shows there.
    </p>
  );
}

function SendSample({ agent, again = false }: { agent: Agent; again?: boolean }) {
  const queries = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  const { data: verification } = useQuery(verificationQuery);
  async function send(): Promise<void> {
    setBusy(true);
    setFailure(undefined);
    const answer = await sendSampleTrace(agent.id);
    if (answer.ok) await queries.invalidateQueries({ queryKey: lastTraceQuery(agent.id).queryKey });
    else setFailure(answer.failure);
    setBusy(false);
  }
  if (verification?.verified === false) {
    return <p className="small quiet">A sample can be sent from here once your address is verified.</p>;
  }
  return (
    <div className="stack-tight">
      {!again && <p className="small quiet">Nothing to send from yet? Look at one that is made up.</p>}
      <div>
        <Button busy={busy} onClick={() => void send()}>
          {again ? "Send another sample" : "Send a sample trace"}
        </Button>
      </div>
      <FailureNotice failure={failure} />
    </div>
  );
}
