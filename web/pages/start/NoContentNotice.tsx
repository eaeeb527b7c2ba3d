// For an agent that stores no content: what is stored of the trace to send, and which checks cannot work.
import { Link } from "@tanstack/react-router";
import { Notice } from "../../ui/Notice.tsx";

export function NoContentNotice({ params }: { params: { projectId: string; agentId: string } }) {
  return (
    <Notice tone="info">
      <p>
        This agent stores no content: only structure, times, tokens, names of spans, tools and models, status,
        and user and conversation IDs. Checks of replies, arguments and attributes show “Missing
        instrumentation”.{" "}
        <Link to="/projects/$projectId/agents/$agentId/settings" params={params} hash="content-settings">
          Content settings
        </Link>
      </p>
    </Notice>
  );
}
