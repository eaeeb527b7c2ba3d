// Shown for a trace without messages: the missing attributes and an example that adds them, unless content is not stored.
import { Link, useParams } from "@tanstack/react-router";
import { EmptyState } from "../../../ui/State.tsx";
import { type Language, Snippet } from "../Snippet.tsx";
import { useTurns } from "./turns.ts";

const snippets: Record<Language, string> = {
  JavaScript: `import { trace } from "@opentelemetry/api";

// On the span of the model call.
trace.getActiveSpan()?.setAttributes({
  "gen_ai.request.model": model,
  "gen_ai.input.messages": JSON.stringify([
    { role: "user", parts: [{ type: "text", content: question }] },
  ]),
  "gen_ai.output.messages": JSON.stringify([
    { role: "assistant", parts: [{ type: "text", content: reply }] },
  ]),
});`,
  Python: `import json
from opentelemetry import trace

# On the span of the model call.
trace.get_current_span().set_attributes({
    "gen_ai.request.model": model,
    "gen_ai.input.messages": json.dumps(
        [{"role": "user", "parts": [{"type": "text", "content": question}]}]
    ),
    "gen_ai.output.messages": json.dumps(
        [{"role": "assistant", "parts": [{"type": "text", "content": reply}]}]
    ),
})`,
  JSON: `{
  "attributes": {
    "gen_ai.request.model": "a-model",
    "gen_ai.input.messages": [
      { "role": "user", "parts": [{ "type": "text", "content": "Where is my order?" }] }
    ],
    "gen_ai.output.messages": [
      { "role": "assistant", "parts": [{ "type": "text", "content": "On its way." }] }
    ]
  }
}`,
};

export function NoConversation() {
  const { trace } = useTurns();
  const { projectId = "", agentId = "", traceId = "" } = useParams({ strict: false });
  // Sending more attributes would change nothing.
  const isGone = trace.notices.includes("content_not_stored");
  return (
    <EmptyState icon="missing" title="No messages in this trace">
      {isGone ? (
        <p className="quiet">
          {trace.contentForgottenAt === null
            ? "Messages are content, and the agent stores no content."
            : "Messages are content, and the content of this trace was dropped."}
        </p>
      ) : (
        <>
          <p className="quiet">
            No span has gen_ai.input.messages, gen_ai.output.messages, gen_ai.prompt, gen_ai.response.text or
            gen_ai.tool.name. Many instrumentations record message content only if a setting enables it.
          </p>
          <Snippet lines={snippets} path={trace.path} />
        </>
      )}
      <Link
        className="button"
        to="/projects/$projectId/agents/$agentId/traces/$traceId"
        params={{ projectId, agentId, traceId }}
        search={{ view: "spans" }}
      >
        View spans
      </Link>
    </EmptyState>
  );
}
