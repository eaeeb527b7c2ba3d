// One conversation as a chat across its traces: each turn with its verdict, failed tests, and a link to the trace.
import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { ConversationSummary } from "../../../src/http/traces/conversations-schemas.ts";
import { failureOf } from "../../api.ts";
import { useLive } from "../../live.ts";
import { turnsQuery } from "../../queries/conversations.ts";
import { useRefresh } from "../../refreshing.ts";
import { NotFound } from "../../shell/NotFound.tsx";
import { useShortcut } from "../../shell/shortcuts.ts";
import { Button } from "../../ui/Button.tsx";
import { CopyText } from "../../ui/Copy.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { Loaded, MorePages } from "../../ui/State.tsx";
import { Title } from "../../ui/Title.tsx";
import { TraceText } from "../../ui/TraceText.tsx";
import { ChatTurn } from "./ChatTurn.tsx";
import { turnsText, verdictsText } from "./words.ts";
import "../../styles/conversation.css";
import "../../styles/conversations.css";
import "../../styles/json.css";

const route = getRouteApi("/member/projects/$projectId/agents/$agentId/traces/conversation");

export function ConversationPage() {
  const { projectId, agentId } = route.useParams();
  const { id = "", turn } = route.useSearch();
  const queries = useQueryClient();
  const options = turnsQuery(agentId, id, turn);
  const query = useInfiniteQuery({ ...options, enabled: id !== "" });
  const refresh = useRefresh(() => queries.invalidateQueries({ queryKey: options.queryKey }), 1_000);
  useLive({ agentId }, ({ type }) => {
    if (type === "trace" || type === "run" || type === "refresh") refresh();
  });
  useTurnKeys();
  if (id === "" || (query.error && failureOf(query.error).code === "NOT_FOUND")) return <NotFound />;
  return (
    <div className="page-wide chat">
      <Title text="Conversation" />
      <Loaded query={query}>
        {({ pages }) => {
          const turns = pages.flatMap(page => page.items);
          return (
            <>
              <ChatHeader conversation={pages[0]!.conversation} params={{ projectId, agentId }} />
              {query.hasPreviousPage && (
                <div className="more">
                  <Button busy={query.isFetchingPreviousPage} onClick={() => void query.fetchPreviousPage()}>
                    Show earlier turns
                  </Button>
                </div>
              )}
              <ol className="chat-turns" aria-label="Turns">
                {turns.map(one => (
                  <ChatTurn
                    key={one.id}
                    turn={one}
                    isCurrent={one.id === turn}
                    params={{ projectId, agentId }}
                  />
                ))}
              </ol>
              <MorePages query={query} />
            </>
          );
        }}
      </Loaded>
    </div>
  );
}

/** j and k move between the links to the traces. */
function useTurnKeys(): void {
  const go = (step: 1 | -1) => {
    const links = [...document.querySelectorAll<HTMLElement>(".chat-turn .chat-open")];
    const at = links.findIndex(link => link.closest(".chat-turn")?.contains(document.activeElement));
    links[at < 0 ? 0 : Math.min(Math.max(at + step, 0), links.length - 1)]?.focus({ focusVisible: true });
  };
  useShortcut("j", "Next turn", () => go(1));
  useShortcut("k", "Previous turn", () => go(-1));
}

type HeaderProps = { conversation: ConversationSummary; params: { projectId: string; agentId: string } };

function ChatHeader({ conversation, params }: HeaderProps) {
  const { conversationId, userId, redacted, traces, userInput } = conversation;
  const title = userInput?.trim().replace(/\s+/g, " ") || "Conversation";
  const verdicts = verdictsText(conversation);
  return (
    <header className="chat-top">
      <Link
        to="/projects/$projectId/agents/$agentId/traces/conversations"
        params={params}
        className="chat-back small"
      >
        <Icon name="chevron" />
        Conversations
      </Link>
      <h1 title={title}>
        <bdi>
          <TraceText text={title} />
        </bdi>
      </h1>
      <div className="chat-facts small">
        <span>
          {turnsText(traces)}
          {verdicts && `: ${verdicts}`}
        </span>
        <span className="chat-id">
          <span className="quiet">ID</span>{" "}
          <CopyText text={conversationId} label="conversation ID">
            <TraceText text={conversationId} rules={redacted} />
          </CopyText>
        </span>
        {userId !== null && (
          <span className="chat-id">
            <span className="quiet">User</span>{" "}
            <Link
              to="/projects/$projectId/agents/$agentId/traces"
              params={params}
              search={{ userId }}
              className="mono"
            >
              <bdi>
                <TraceText text={userId} rules={redacted} />
              </bdi>
            </Link>
          </span>
        )}
        <Link to="/projects/$projectId/agents/$agentId/traces" params={params} search={{ conversationId }}>
          List traces
        </Link>
        {(traces.more || traces.count > 20) && (
          <Link to="." search={{ id: conversationId, turn: "end" }}>
            Last turns
          </Link>
        )}
      </div>
    </header>
  );
}
