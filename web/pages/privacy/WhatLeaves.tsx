// Everything that can leave Onlooker, with where to switch it off.
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { agentsQuery } from "../../queries/agents.ts";
import { emailAlertsQuery } from "../../queries/alerts.ts";
import { projectJudgeQuery } from "../../queries/project-judge.ts";

export function WhatLeaves({ projectId }: { projectId: string }) {
  const params = { projectId };
  const { data: judge } = useQuery(projectJudgeQuery(projectId));
  const { data: alerts } = useQuery(emailAlertsQuery);
  const { data: agents } = useInfiniteQuery(agentsQuery(projectId));
  const rows: [name: string, what: ReactNode, state: ReactNode][] = [
    [
      "Judge",
      "User input, reply and conversation of the traces that it judges, with the test’s criteria, scenario and reference replies.",
      judge?.source === null ? (
        "Off: no judge is connected."
      ) : (
        <Link to="/projects/$projectId/settings/judge" params={params}>
          {judge?.source === "environment" ? "On: the server’s judge" : "On: the project’s judge"}
        </Link>
      ),
    ],
    [
      "Account emails",
      "Links to verify an email address and to reset a password. Nothing of traces.",
      alerts?.mailServer === false ? "Off: this server has no mail server." : "Always on",
    ],
    [
      "Email alerts",
      "Names of tests, counts and links. Nothing of traces.",
      alerts?.mailServer === false ? (
        "Off: this server has no mail server."
      ) : (
        <Link to="/settings/alerts">Turn on or off</Link>
      ),
    ],
    [
      "Webhooks",
      "Names of tests, counts and links, to the URL of each agent. Nothing of traces.",
      <AgentLinks key="webhooks" projectId={projectId} agents={agents ?? []} />,
    ],
    [
      "Manual runs",
      "The inputs of the tests, and in conversations the agent’s earlier replies, to the agent’s own URL; test messages.",
      <AgentLinks key="runs" projectId={projectId} agents={agents ?? []} />,
    ],
  ];
  return (
    <section className="card stack" aria-labelledby="what-leaves">
      <div className="stack-tight">
        <h2 id="what-leaves">What leaves Onlooker</h2>
        <p className="quiet">These, and nothing else: no telemetry, no calls to its makers.</p>
      </div>
      <div className="table-wrap">
        <table className="table leaves">
          <caption className="unseen">What leaves Onlooker</caption>
          <thead>
            <tr>
              <th scope="col">To</th>
              <th scope="col">What is sent</th>
              <th scope="col">Switch</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(([name, what, state]) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td data-label="What is sent">{what}</td>
                <td data-label="Switch">{state}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

const linksMax = 5;

function AgentLinks({ projectId, agents }: { projectId: string; agents: { id: string; name: string }[] }) {
  if (agents.length === 0) return <>No agent yet.</>;
  return (
    <>
      {agents.slice(0, linksMax).map(({ id, name }) => (
        <div key={id}>
          <Link
            to="/projects/$projectId/agents/$agentId/settings"
            params={{ projectId, agentId: id }}
            className="break"
          >
            {name}
          </Link>
        </div>
      ))}
      {agents.length > linksMax && <div className="quiet">and the settings of the other agents</div>}
    </>
  );
}
