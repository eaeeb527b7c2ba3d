// The switch between the list of traces and the list of conversations.
import { Link } from "@tanstack/react-router";

type Props = { params: { projectId: string; agentId: string }; shown: "traces" | "conversations" };

export function TracesOrConversations({ params, shown }: Props) {
  return (
    <nav className="segments" aria-label="Traces or conversations">
      <Link
        to="/projects/$projectId/agents/$agentId/traces"
        params={params}
        className="segment"
        aria-current={shown === "traces" ? "page" : undefined}
        activeOptions={{ exact: true }}
      >
        Traces
      </Link>
      <Link
        to="/projects/$projectId/agents/$agentId/traces/conversations"
        params={params}
        className="segment"
        aria-current={shown === "conversations" ? "page" : undefined}
        activeOptions={{ exact: true }}
      >
        Conversations
      </Link>
    </nav>
  );
}
