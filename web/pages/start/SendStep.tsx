// The lines that send a first trace, for the language and framework in the URL, or those chosen last.
import { getRouteApi, Link } from "@tanstack/react-router";
import type { Agent } from "../../../src/model/agent/agent.ts";
import { Notice } from "../../ui/Notice.tsx";
import { ChooseFramework } from "./ChooseFramework.tsx";
import { GuideStep } from "./GuideStep.tsx";
import { LogsHint } from "./LogsHint.tsx";
import { SnippetStep } from "./SnippetStep.tsx";
import { guideOf, lastTab, senderOf, tabOf, tabs } from "./senders.ts";

const route = getRouteApi("/member/projects/$projectId/agents/$agentId/start");

/** Placeholder for an agent without a service name. */
const namePlaceholder = "your-service-name";

/** `hasKey`: `keyText` is a key, possibly masked, and not a placeholder. */
type SendStepProps = { agent: Agent; keyText: string; hasKey: boolean; onCopied: () => void };

export function SendStep({ agent, keyText, hasKey, onCopied }: SendStepProps) {
  const params = route.useParams();
  const { tab: wanted } = route.useSearch();
  const last = lastTab.use();
  const tab = tabOf(wanted) ?? tabOf(last) ?? "curl";
  const guide = guideOf(tab);
  const sender = senderOf(tab);
  const serviceName = agent.otlpServiceName ?? namePlaceholder;
  const target = { origin: location.origin, key: keyText, serviceName };
  return (
    <>
      <nav className="tabs start-tabs" aria-label="Sender">
        {tabs.map(({ first, sender: one, label }) => (
          <Link
            key={one}
            to="/projects/$projectId/agents/$agentId/start"
            params={params}
            search={{ tab: first }}
            onClick={() => lastTab.set(first)}
            className="tab"
            data-active={one === sender || undefined}
            aria-current={one === sender ? "page" : undefined}
          >
            {label}
          </Link>
        ))}
      </nav>
      <ChooseFramework sender={sender} tab={tab} />
      {tab !== "curl" && agent.otlpServiceName === null && (
        <Notice tone="warn">
          This agent has no service name yet. OpenTelemetry traces need one: set it in step 1.
        </Notice>
      )}
      {!hasKey && (
        <p className="quiet small">
          Replace <code>{keyText}</code> with your key.
        </p>
      )}
      {guide ? (
        <GuideStep key={tab} guide={guide} agent={agent} target={target} onCopied={onCopied} />
      ) : (
        <SnippetStep sender={tab} target={{ ...target, agentId: agent.id }} onCopied={onCopied} />
      )}
      {tab !== "curl" && <LogsHint origin={target.origin} keyText={keyText} />}
    </>
  );
}
