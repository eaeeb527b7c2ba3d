// The part of an agent's settings that says how it is called.
import { useQuery } from "@tanstack/react-query";
import type { Agent, AgentType } from "../../src/model/agent/agent.ts";
import { connectionQuery } from "../queries/connection.ts";
import { Loaded } from "../ui/State.tsx";
import { ConnectionForm } from "./ConnectionForm.tsx";
import "../styles/connection.css";
import "../styles/json.css";

const about: Record<AgentType, string> = {
  http_api: "How manual runs call this agent over HTTP.",
  workflow: "How manual runs start this workflow, as n8n’s triggers take it.",
  flow_builder: "How manual runs ask this flow.",
};

export function ConnectionSection({ agent }: { agent: Agent }) {
  const query = useQuery(connectionQuery(agent.id, agent.type));
  return (
    <section className="card stack" aria-labelledby="connection">
      <div className="stack-tight">
        <h2 id="connection">Connection</h2>
        <p className="quiet">{about[agent.type]} Traces come in the same way, with or without it.</p>
      </div>
      <Loaded query={query}>
        {stored => <ConnectionForm key={stored.type} agent={agent} stored={stored} />}
      </Loaded>
    </section>
  );
}
