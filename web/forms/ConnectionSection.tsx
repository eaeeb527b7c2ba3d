// Section of the agent settings with the connection for manual runs.
import { useQuery } from "@tanstack/react-query";
import type { Agent, AgentType } from "../../src/model/agent/agent.ts";
import { connectionQuery } from "../queries/connection.ts";
import { Loaded } from "../ui/State.tsx";
import { ConnectionForm } from "./ConnectionForm.tsx";
import "../styles/connection.css";
import "../styles/json.css";

const about: Record<AgentType, string> = {
  http_api: "How manual runs call this agent over HTTP.",
  workflow: "How manual runs start this workflow, through an n8n trigger.",
  flow_builder: "How manual runs call this flow.",
};

export function ConnectionSection({ agent }: { agent: Agent }) {
  const query = useQuery(connectionQuery(agent.id, agent.type));
  return (
    <section className="card stack" aria-labelledby="connection">
      <div className="stack-tight">
        <h2 id="connection">Connection</h2>
        <p className="quiet">{about[agent.type]} Live traffic does not need a connection.</p>
      </div>
      <Loaded query={query}>
        {stored => <ConnectionForm key={stored.type} agent={agent} stored={stored} />}
      </Loaded>
    </section>
  );
}
