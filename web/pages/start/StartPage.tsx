// Get started: from an agent to its first trace, with what was refused on the way explained.

import { useInfiniteQuery, useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import type { CreatedKey, Key } from "../../../src/http/projects/schemas.ts";
import { KeyForm } from "../../forms/KeyForm.tsx";
import { ServiceNameForm } from "../../forms/ServiceNameForm.tsx";
import { verificationQuery } from "../../queries/account.ts";
import { agentQuery } from "../../queries/agents.ts";
import { keysQuery } from "../../queries/keys.ts";
import "../../styles/start.css";
import { CopyText } from "../../ui/Copy.tsx";
import { Dialog } from "../../ui/Dialog.tsx";
import { Notice } from "../../ui/Notice.tsx";
import { Page } from "../../ui/Page.tsx";
import { NoJudgeYet } from "../judging/NoJudge.tsx";
import { useHappenings } from "./happenings.ts";
import { KeyStep } from "./KeyStep.tsx";
import { Live } from "./Live.tsx";
import { SendStep } from "./SendStep.tsx";

const route = getRouteApi("/member/projects/$projectId/agents/$agentId/start");

/** Stands where a key's text is not known. */
const anyKey = "svc_…";

export function StartPage() {
  const { projectId, agentId } = route.useParams();
  // One agent's page is another page than the next one's: nothing made or heard is carried over.
  return <Start key={agentId} projectId={projectId} agentId={agentId} />;
}

function Start({ projectId, agentId }: { projectId: string; agentId: string }) {
  const { data: agent } = useSuspenseQuery(agentQuery(agentId));
  const { data: keys } = useInfiniteQuery(keysQuery(projectId));
  const [making, setMaking] = useState(false);
  const [made, setMade] = useState<CreatedKey>();
  const [chosenId, setChosenId] = useState<string>();
  const happenings = useHappenings(agent);
  const fitting = keys?.filter(key => key.status === "active" && mayWrite(key, agentId));
  const chosen = fitting?.find(({ id }) => id === chosenId) ?? fitting?.[0];
  return (
    <Page title="Get started" about="An agent, a key, one request: then its conversations are judged.">
      <div className="start">
        <div className="stack">
          <section className="card stack" aria-labelledby="start-agent">
            <h2 id="start-agent">1. The agent</h2>
            <dl className="facts">
              <dt>Name</dt>
              <dd>{agent.name}</dd>
              <dt>Id</dt>
              <dd>
                <CopyText text={agent.id} label="agent id" />
              </dd>
              {agent.otlpServiceName !== null && (
                <>
                  <dt>Service name</dt>
                  <dd>
                    <CopyText text={agent.otlpServiceName} label="service name" />
                  </dd>
                </>
              )}
            </dl>
            {agent.otlpServiceName === null && <ServiceNameForm agent={agent} />}
          </section>
          <section className="card stack" aria-labelledby="start-key">
            <h2 id="start-key">2. A key</h2>
            <KeyStep
              keys={fitting}
              chosen={chosen}
              made={made}
              fits={made === undefined || mayWrite(made, agentId)}
              onChoose={setChosenId}
              onNewKey={() => setMaking(true)}
            />
          </section>
          <section className="card stack" aria-labelledby="start-send">
            <h2 id="start-send">3. Send a trace</h2>
            <StillUnverified />
            <SendStep
              agent={agent}
              keyText={made?.key ?? chosen?.masked ?? anyKey}
              isWhole={made !== undefined}
            />
          </section>
        </div>
        <div className="stack start-live">
          <section className="card stack" aria-labelledby="start-see">
            <h2 id="start-see">4. See it here</h2>
            <Live agent={agent} happenings={happenings} onNewKey={() => setMaking(true)} />
            <NoJudgeYet projectId={projectId} />
          </section>
          <RunOnPurpose params={{ projectId, agentId }} />
        </div>
      </div>
      {making && (
        <Dialog title="New key" onClose={() => setMaking(false)}>
          <KeyForm
            projectId={projectId}
            onDone={key => {
              setMade(key);
              setMaking(false);
            }}
          />
        </Dialog>
      )}
    </Page>
  );
}

function RunOnPurpose({ params }: { params: { projectId: string; agentId: string } }) {
  return (
    <section className="card stack-tight" aria-labelledby="start-run">
      <h2 id="start-run">Or do not wait for traffic</h2>
      <p>
        Test cases can also be run on purpose: their turns are sent to the agent, and its replies judged. For
        that,{" "}
        <Link to="/projects/$projectId/agents/$agentId/settings" params={params} hash="connection">
          say how it is called
        </Link>
        , then{" "}
        <Link to="/projects/$projectId/agents/$agentId/runs" params={params}>
          run them
        </Link>
        .
      </p>
    </section>
  );
}

function mayWrite({ access, agentIds }: Key, agentId: string): boolean {
  return access === "full" || agentIds.includes(agentId);
}

const lookAgainMs = 5_000;

/** Goes away by itself, wherever the address is confirmed. */
function StillUnverified() {
  const { data: verification } = useQuery({
    ...verificationQuery,
    refetchInterval: ({ state }) => state.data?.verified === false && lookAgainMs,
  });
  if (!verification || verification.verified) return null;
  return (
    <Notice tone="warn">
      Until <strong className="break">{verification.email}</strong> is verified, every trace is refused with
      403 <code>EMAIL_NOT_VERIFIED</code> and nothing is stored. Keys made now work from then on.
    </Notice>
  );
}
