// The agents of a project, one card each.
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { AgentDay } from "../../../src/http/projects/insights-schemas.ts";
import type { Agent } from "../../../src/model/agent/agent.ts";
import { numberText, rateText } from "../../format.ts";
import { AgentForm } from "../../forms/AgentForm.tsx";
import { agentTypes, counted, notFullyEvaluated, outcomes, routingUnavailable } from "../../labels.ts";
import { agentsQuery } from "../../queries/agents.ts";
import { agentDaysQuery } from "../../queries/insights.ts";
import { Button } from "../../ui/Button.tsx";
import { CopyText } from "../../ui/Copy.tsx";
import { Dialog } from "../../ui/Dialog.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { Page } from "../../ui/Page.tsx";
import { Loaded, MorePages } from "../../ui/State.tsx";
import { RelativeTime } from "../../ui/Time.tsx";
import { FirstAgent } from "./FirstAgent.tsx";

const route = getRouteApi("/member/projects/$projectId/agents");

export function AgentsPage() {
  const { projectId } = route.useParams();
  const navigate = useNavigate();
  const agents = useInfiniteQuery(agentsQuery(projectId));
  const days = useInfiniteQuery({ ...agentDaysQuery(projectId), refetchInterval: 30_000 });
  const dayOf = new Map(days.data?.map(day => [day.id, day]));
  const more = () => {
    void days.fetchNextPage();
    return agents.fetchNextPage();
  };
  const [isCreating, setCreating] = useState(false);
  const openStart = ({ id }: Agent) =>
    void navigate({ to: "/projects/$projectId/agents/$agentId/start", params: { projectId, agentId: id } });
  const newAgent = (
    <Button look="main" icon="plus" onClick={() => setCreating(true)}>
      New agent
    </Button>
  );
  return (
    <Page title="Agents" actions={agents.data?.length ? newAgent : null}>
      <Loaded query={agents}>
        {items =>
          items.length === 0 ? (
            <FirstAgent projectId={projectId} onDone={openStart} />
          ) : (
            <>
              <ul className="agents">
                {items.map(agent => (
                  <li key={agent.id}>
                    <AgentCard agent={agent} day={dayOf.get(agent.id)} />
                  </li>
                ))}
              </ul>
              <MorePages query={{ ...agents, fetchNextPage: more }} />
            </>
          )
        }
      </Loaded>
      {isCreating && (
        <Dialog title="New agent" onClose={() => setCreating(false)}>
          <AgentForm projectId={projectId} onDone={openStart} />
        </Dialog>
      )}
    </Page>
  );
}

const pages = [
  { to: "/projects/$projectId/agents/$agentId/overview", text: "Overview" },
  { to: "/projects/$projectId/agents/$agentId/traces", text: "Traces" },
  { to: "/projects/$projectId/agents/$agentId/tests", text: "Test cases" },
  { to: "/projects/$projectId/agents/$agentId/runs", text: "Runs" },
  { to: "/projects/$projectId/agents/$agentId/insights", text: "Insights" },
] as const;

/** `day` loads after the agent. */
function AgentCard({ agent, day }: { agent: Agent; day: AgentDay | undefined }) {
  const { id, projectId, name, type, otlpServiceName } = agent;
  const params = { projectId, agentId: id };
  return (
    <article className="card stack-tight">
      <div className="line line-apart">
        <h2>
          <Link to="/projects/$projectId/agents/$agentId" params={params}>
            {name}
          </Link>
        </h2>
        <span className="quiet small">{agentTypes[type]}</span>
      </div>
      <dl className="facts">
        <dt>ID</dt>
        <dd>
          <CopyText text={id} label={`ID of ${name}`} />
        </dd>
        <dt>Service name</dt>
        <dd>{otlpServiceName ? <code>{otlpServiceName}</code> : <span className="quiet">None</span>}</dd>
        <dt>Last trace</dt>
        <dd>
          {day?.lastTraceAt && <RelativeTime at={day.lastTraceAt} />}
          {day?.lastTraceAt === null && (
            <>
              <span className="quiet">None yet</span>
              <Link
                to="/projects/$projectId/agents/$agentId/start"
                params={params}
                aria-label={`Get started with ${name}`}
              >
                Get started
              </Link>
            </>
          )}
        </dd>
        <dt>Pass rate, 24 h</dt>
        <dd>{day && <PassRate day={day} />}</dd>
      </dl>
      <nav className="line small" aria-label={`Pages of ${name}`}>
        {pages.map(({ to, text }) => (
          <Link key={to} to={to} params={params}>
            {text}
          </Link>
        ))}
      </nav>
    </article>
  );
}

/** The pass rate with its counts; what is not part of it is shown beside it. */
function PassRate({ day }: { day: AgentDay }) {
  const { counts, notFullyEvaluated: others, passRate, runs, routingUnavailable: unrouted } = day;
  if (runs === 0) return <span className="quiet">Nothing evaluated</span>;
  const counting = counts.passed + counts.failed;
  const beside = (["missing_instrumentation", "skipped"] as const)
    .filter(outcome => counts[outcome] > 0)
    .map(outcome => `${numberText(counts[outcome])} ${outcomes[outcome].text.toLowerCase()}`);
  if (others > 0) beside.push(`${numberText(others)} ${notFullyEvaluated.text.toLowerCase()}`);
  return (
    <>
      {passRate === null ? (
        <span className="quiet">No passes or failures</span>
      ) : (
        <span>
          <strong>{rateText(passRate)}</strong>{" "}
          <span className="quiet">
            {numberText(counts.passed)} of {numberText(counting)} passed
          </span>
        </span>
      )}
      {beside.length > 0 && <span className="quiet small">{beside.join(", ")}</span>}
      {unrouted > 0 && (
        <span className="text-warn small">
          <Icon name={routingUnavailable.icon} />
          {routingUnavailable.text} for {counted(unrouted, "evaluation")}
        </span>
      )}
    </>
  );
}
