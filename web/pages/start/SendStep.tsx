// The snippet that sends a first trace, for the sender in the URL.
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Agent } from "../../../src/model/agent/agent.ts";
import { Copy } from "../../ui/Copy.tsx";
import { Notice } from "../../ui/Notice.tsx";
import { senders, snippets } from "./snippets.ts";

const route = getRouteApi("/member/projects/$projectId/agents/$agentId/start");

/** Placeholder for an agent without a service name. */
const namePlaceholder = "your-service-name";

/** `hasKey`: `keyText` is a key, possibly masked, and not a placeholder. */
type SendStepProps = { agent: Agent; keyText: string; hasKey: boolean; onCopied: () => void };

export function SendStep({ agent, keyText, hasKey, onCopied }: SendStepProps) {
  const params = route.useParams();
  const { tab } = route.useSearch();
  const sender = senders.find(name => name === tab) ?? "curl";
  const { before, text, after } = snippets[sender];
  const [endMs] = useState(Date.now);
  const serviceName = agent.otlpServiceName ?? namePlaceholder;
  const given = { origin: location.origin, key: keyText, agentId: agent.id, serviceName, endMs };
  return (
    <>
      <nav className="tabs start-tabs" aria-label="Sender">
        {senders.map(name => (
          <Link
            key={name}
            to="/projects/$projectId/agents/$agentId/start"
            params={params}
            search={{ tab: name }}
            className="tab"
            data-active={name === sender || undefined}
            aria-current={name === sender ? "page" : undefined}
          >
            {snippets[name].label}
          </Link>
        ))}
      </nav>
      {sender !== "curl" && agent.otlpServiceName === null && (
        <Notice tone="warn">
          This agent has no service name yet. OpenTelemetry traces need one: set it in step 1.
        </Notice>
      )}
      {!hasKey && (
        <p className="quiet small">
          Replace <code>{keyText}</code> with your key.
        </p>
      )}
      <p className="small break">
        {sender === "curl" || sender === "collector" ? before : <code>{before}</code>}
      </p>
      <figure className="start-snippet">
        <pre>
          <code>{text(given)}</code>
        </pre>
        <Copy text={text(given)} onCopied={onCopied}>
          Copy
        </Copy>
      </figure>
      {after && (
        <p className="small">
          {after.label}: <code className="start-name">{after.text(given)}</code>
        </p>
      )}
    </>
  );
}
