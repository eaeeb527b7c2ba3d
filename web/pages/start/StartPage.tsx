// Get started: from an agent to its first trace, with the reason and fix for each rejected request.
import { useInfiniteQuery, useQuery, useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import type { CreatedKey } from "../../../src/http/projects/schemas.ts";
import type { Agent } from "../../../src/model/agent/agent.ts";
import type { Failure } from "../../api.ts";
import { KeyForm } from "../../forms/KeyForm.tsx";
import { ServiceNameForm } from "../../forms/ServiceNameForm.tsx";
import { createKey } from "../../mutations/keys.ts";
import { verificationQuery } from "../../queries/account.ts";
import { agentQuery } from "../../queries/agents.ts";
import { keysQuery } from "../../queries/keys.ts";
import { testsQuery } from "../../queries/tests.ts";
import "../../styles/start.css";
import { CopyText } from "../../ui/Copy.tsx";
import { Dialog } from "../../ui/Dialog.tsx";
import { Notice } from "../../ui/Notice.tsx";
import { Page } from "../../ui/Page.tsx";
import { NoJudgeYet } from "../judge-usage/NoJudge.tsx";
import { canWrite, useCreatedKey } from "./created-key.ts";
import { KeyStep } from "./KeyStep.tsx";
import { Live } from "./Live.tsx";
import { useLatestRequests } from "./latest-requests.ts";
import { NoContentNotice } from "./NoContentNotice.tsx";
import { SendStep } from "./SendStep.tsx";
import { Steps } from "./Steps.tsx";
import { TestStep } from "./TestStep.tsx";
import { VerdictStep } from "./VerdictStep.tsx";

const route = getRouteApi("/member/projects/$projectId/agents/$agentId/start");

const keyPlaceholder = "svc_…";

export function StartPage() {
  const { projectId, agentId } = route.useParams();
  // The key resets the state when another agent is opened.
  return <Start key={agentId} projectId={projectId} agentId={agentId} />;
}

function Start({ projectId, agentId }: { projectId: string; agentId: string }) {
  const { data: agent } = useSuspenseQuery(agentQuery(agentId));
  const { data: keys } = useInfiniteQuery(keysQuery(projectId));
  const [creating, setCreating] = useState(false);
  const { created, keep, onCopied } = useCreatedKey(projectId, agentId);
  const [chosenId, setChosenId] = useState<string>();
  const latest = useLatestRequests(agent);
  const { data: tests } = useInfiniteQuery({ ...testsQuery(agentId), refetchOnMount: "always" });
  const queries = useQueryClient();
  const hasTrace = Boolean(latest.received);
  // Tests may have changed elsewhere since the page was opened.
  useEffect(() => {
    if (hasTrace) void queries.invalidateQueries({ queryKey: testsQuery(agentId).queryKey });
  }, [queries, agentId, hasTrace]);
  const quickKey = useQuickKey(agent, keep);
  const usable = keys?.filter(key => key.status === "active" && canWrite(key, agentId));
  const chosen = usable?.find(({ id }) => id === chosenId) ?? usable?.[0];
  const trace = latest.received ?? undefined;
  const done = {
    "start-agent": true,
    "start-key": (created ?? chosen) !== undefined,
    "start-send": trace !== undefined,
    "start-test": tests?.some(({ eligibility }) => eligibility === null) ?? false,
    "start-verdict": trace?.run?.verdict != null,
  };
  return (
    <Page title="Get started" about="From an agent to the first verdict in five steps.">
      <Steps done={done} />
      <div className="start">
        <div className="stack">
          <section className="card stack" aria-labelledby="start-agent">
            <h2 id="start-agent">1. Agent</h2>
            <dl className="facts">
              <dt>Name</dt>
              <dd>{agent.name}</dd>
              <dt>ID</dt>
              <dd>
                <CopyText text={agent.id} label="agent ID" />
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
            <ServiceNameForm agent={agent} />
          </section>
          <section className="card stack" aria-labelledby="start-key">
            <h2 id="start-key">2. API key</h2>
            <KeyStep
              keys={usable}
              chosen={chosen}
              created={created}
              canWrite={created === undefined || canWrite(created, agentId)}
              onChoose={setChosenId}
              onNewKey={() => setCreating(true)}
              onQuickKey={() => void quickKey.create()}
              quickKey={quickKey}
              onCopied={onCopied}
            />
          </section>
          <section className="card stack" aria-labelledby="start-send">
            <h2 id="start-send">3. Send a trace</h2>
            <UnverifiedNotice />
            {agent.content === "none" && <NoContentNotice params={{ projectId, agentId }} />}
            <SendStep
              agent={agent}
              keyText={created?.key ?? chosen?.masked ?? keyPlaceholder}
              hasKey={(created ?? chosen) !== undefined}
              onCopied={onCopied}
            />
          </section>
        </div>
        <section className="card stack start-live" aria-labelledby="start-see">
          <h2 id="start-see">Latest request</h2>
          <Live agent={agent} latest={latest} onNewKey={() => setCreating(true)} />
        </section>
        <div className="stack">
          <section className="card stack" aria-labelledby="start-test">
            <h2 id="start-test">4. First test</h2>
            <TestStep agent={agent} tests={tests} trace={trace} />
          </section>
          <section className="card stack" aria-labelledby="start-verdict">
            <h2 id="start-verdict">5. First verdict</h2>
            <VerdictStep agent={agent} trace={trace} hasTest={done["start-test"]} />
            <NoJudgeYet projectId={projectId} />
          </section>
          <ManualRuns params={{ projectId, agentId }} />
        </div>
      </div>
      {creating && (
        <Dialog title="New key" onClose={() => setCreating(false)}>
          <KeyForm
            projectId={projectId}
            onDone={key => {
              keep(key);
              setCreating(false);
            }}
          />
        </Dialog>
      )}
    </Page>
  );
}

/** Creates a key for this agent alone, with the default expiry. */
function useQuickKey({ id, projectId, name }: Agent, onCreated: (key: CreatedKey) => void) {
  const queries = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  async function create(): Promise<void> {
    setBusy(true);
    const body = { name: keyName(name), access: "granular" as const, agentIds: [id] };
    const answer = await createKey(projectId, body);
    setFailure(answer.ok ? undefined : answer.failure);
    if (answer.ok) {
      // The key is shown only once, so not only after the list has loaded.
      onCreated(answer.value);
      await queries.invalidateQueries({ queryKey: keysQuery(projectId).queryKey });
    }
    setBusy(false);
  }
  return { busy, failure, create };
}

/** Cut to the API's limit of 200 UTF-16 units, never inside a character. */
function keyName(agentName: string): string {
  let text = "";
  for (const character of `Key for ${agentName}`) {
    if (text.length + character.length > 200) break;
    text += character;
  }
  return text;
}

function ManualRuns({ params }: { params: { projectId: string; agentId: string } }) {
  return (
    <section className="card stack-tight" aria-labelledby="start-run">
      <h2 id="start-run">Or run test cases without live traffic</h2>
      <p>
        Onlooker can send test inputs to the agent and evaluate its replies.{" "}
        <Link to="/projects/$projectId/agents/$agentId/settings" params={params} hash="connection">
          Set up the connection
        </Link>
        , then{" "}
        <Link to="/projects/$projectId/agents/$agentId/runs" params={params}>
          run test cases
        </Link>
        .
      </p>
    </section>
  );
}

const pollMs = 5_000;

/** Polls, so that it disappears also when the email is confirmed in another browser. */
function UnverifiedNotice() {
  const { data: verification } = useQuery({
    ...verificationQuery,
    refetchInterval: ({ state }) => state.data?.verified === false && pollMs,
  });
  if (!verification || verification.verified) return null;
  return (
    <Notice tone="warn">
      Traces are rejected (403 <code>EMAIL_NOT_VERIFIED</code>) until you verify{" "}
      <strong className="break">{verification.email}</strong>. Keys created now work from then on.
    </Notice>
  );
}
