// What was said: messages as a chat, tool calls as cards, each with the way to the span it stood in.
import { useQuery } from "@tanstack/react-query";
import { Fragment, useState } from "react";
import type { Turn } from "../../../src/model/conversation-view.ts";
import { counted } from "../../labels.ts";
import { conversationQuery } from "../../queries/traces.ts";
import type { Conversation, TraceOutline } from "../../shapes.ts";
import "../../styles/conversation.css";
import "../../styles/json.css";
import { Button } from "../../ui/Button.tsx";
import { Notice } from "../../ui/Notice.tsx";
import { Loaded } from "../../ui/State.tsx";
import { MessageTurn } from "./conversation/MessageTurn.tsx";
import { NoConversation } from "./conversation/NoConversation.tsx";
import { ToolCallTurn } from "./conversation/ToolCallTurn.tsx";
import { TurnsContext } from "./conversation/turns.ts";
import type { Select } from "./selection.ts";

export type ConversationViewProps = { trace: TraceOutline; onSelect: Select };

export function ConversationView({ trace, onSelect }: ConversationViewProps) {
  const query = useQuery(conversationQuery(trace.id));
  return (
    <div className="conversation">
      <Loaded query={query}>
        {conversation => (
          <TurnsContext value={{ trace, onSelect }}>
            {conversation.turns.length === 0 ? <NoConversation /> : <Turns conversation={conversation} />}
          </TurnsContext>
        )}
      </Loaded>
    </div>
  );
}

// A chat is read from its beginning and from its end.
const headShown = 20;
const tailShown = 30;
const moreShown = 50;

function Turns({ conversation: { turns, omitted, complete } }: { conversation: Conversation }) {
  const [head, setHead] = useState(headShown);
  const hidden = Math.max(0, turns.length - head - tailShown);
  const shown = turns.map((turn, at) => ({ turn, at })).filter(({ at }) => at < head || at >= head + hidden);
  return (
    <>
      {!complete && (
        <Notice tone="info">
          There is more than is shown here
          {omitted && `: ${counted(omitted.count, "message")} after the first ${omitted.after} are left out`}.
          The spans hold all of it.
        </Notice>
      )}
      <ol className="turns">
        {shown.map(({ turn, at }) => (
          <Fragment key={at}>
            {hidden > 0 && at === head + hidden && (
              <li className="turns-hidden">
                <Button onClick={() => setHead(head + moreShown)}>
                  Show {Math.min(moreShown, hidden)} of {counted(hidden, "message")} in between
                </Button>
              </li>
            )}
            <li className="turn" data-agent={turn.agent ? true : undefined}>
              {turn.agent && turn.agent.spanId !== turns[at - 1]?.agent?.spanId && (
                <SubAgent agent={turn.agent} />
              )}
              {turn.kind === "message" ? <MessageTurn turn={turn} /> : <ToolCallTurn turn={turn} />}
            </li>
          </Fragment>
        ))}
      </ol>
    </>
  );
}

function SubAgent({ agent }: { agent: NonNullable<Turn["agent"]> }) {
  return (
    <p className="turn-agent">
      Sub-agent <strong className="break">{agent.name}</strong>
    </p>
  );
}
