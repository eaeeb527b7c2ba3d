// The project's agents, a card each.
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { Agent } from "../../src/model/agent.ts";
import { AgentForm } from "../forms/AgentForm.tsx";
import { agentTypes } from "../labels.ts";
import { agentsQuery, lastTraceQuery } from "../queries/agents.ts";
import { Verdict } from "../ui/Badge.tsx";
import { Button } from "../ui/Button.tsx";
import { CopyText } from "../ui/Copy.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { Page } from "../ui/Page.tsx";
import { EmptyState, Loaded, MorePages } from "../ui/State.tsx";
import { RelativeTime } from "../ui/Time.tsx";

const route = getRouteApi("/member/projects/$projectId/agents");

export function AgentsPage() {
  const { projectId } = route.useParams();
  const navigate = useNavigate();
  const agents = useInfiniteQuery(agentsQuery(projectId));
  const [making, setMaking] = useState(false);
  const make = (
    <Button look="main" icon="plus" onClick={() => setMaking(true)}>
      New agent
    </Button>
  );
  return (
    <Page title="Agents" actions={agents.data?.length ? make : null}>
      <Loaded query={agents}>
        {items =>
          items.length === 0 ? (
            <EmptyState icon="agent" title="No agent yet">
              <p className="quiet">An agent is the AI system whose traces are stored and judged.</p>
              {make}
            </EmptyState>
          ) : (
            <>
              <ul className="agents">
                {items.map(agent => (
                  <li key={agent.id}>
                    <AgentCard agent={agent} />
                  </li>
                ))}
              </ul>
              <MorePages query={agents} />
            </>
          )
        }
      </Loaded>
      {making && (
        <Dialog title="New agent" onClose={() => setMaking(false)}>
          <AgentForm
            projectId={projectId}
            onDone={({ id }) =>
              void navigate({
                to: "/projects/$projectId/agents/$agentId/start",
                params: { projectId, agentId: id },
              })
            }
          />
        </Dialog>
      )}
    </Page>
  );
}

function AgentCard({ agent }: { agent: Agent }) {
  const { id, projectId, name, type, otlpServiceName } = agent;
  const { data: last } = useQuery(lastTraceQuery(id));
  return (
    <article className="card stack-tight">
      <div className="line line-apart">
        <h2>
          <Link to="/projects/$projectId/agents/$agentId" params={{ projectId, agentId: id }}>
            {name}
          </Link>
        </h2>
        <span className="quiet small">{agentTypes[type]}</span>
      </div>
      <dl className="facts">
        <dt>Id</dt>
        <dd>
          <CopyText text={id} label={`id of ${name}`} />
        </dd>
        <dt>Service name</dt>
        <dd>{otlpServiceName ? <code>{otlpServiceName}</code> : <span className="quiet">None</span>}</dd>
        <dt>Last trace</dt>
        <dd>
          {last === null && <span className="quiet">None yet</span>}
          {last && (
            <>
              <RelativeTime at={last.receivedAt} />
              <Verdict run={last.run} />
            </>
          )}
        </dd>
      </dl>
    </article>
  );
}
