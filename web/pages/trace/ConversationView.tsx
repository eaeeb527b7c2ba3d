// The trace as a conversation: messages as a chat, tool calls as cards, each linked to its span.

import { useQuery } from "@tanstack/react-query";
import { Fragment, useMemo, useState } from "react";
import type { Conversation } from "../../../src/http/traces/conversation-schemas.ts";
import type { TraceOutline } from "../../../src/http/traces/schemas.ts";
import type { Turn } from "../../../src/model/trace/shown.ts";
import { counted } from "../../labels.ts";
import { conversationQuery } from "../../queries/traces.ts";
import "../../styles/conversation.css";
import "../../styles/judging.css";
import "../../styles/json.css";
import { Button } from "../../ui/Button.tsx";
import { Notice } from "../../ui/Notice.tsx";
import { Loaded } from "../../ui/State.tsx";
import { MessageTurn } from "./conversation/MessageTurn.tsx";
import { NoConversation } from "./conversation/NoConversation.tsx";
import { textForm, usePreloadedMarkdown } from "./conversation/PassageText.tsx";
import { ToolCallTurn } from "./conversation/ToolCallTurn.tsx";
import { QuotedContext, TurnsContext, useTurns } from "./conversation/turns.ts";
import { type Quoted, turnQuoted } from "./quoted.ts";
import type { Select } from "./selection.ts";

export type ConversationViewProps = {
  trace: TraceOutline;
  /** The passage to mark. */
  quoted: Quoted | undefined;
  onSelect: Select;
};

export function ConversationView({ trace, quoted, onSelect }: ConversationViewProps) {
  const query = useQuery(conversationQuery(trace.id));
  usePreloadedMarkdown();
  return (
    <div className="conversation">
      <Loaded query={query}>
        {conversation => (
          <TurnsContext value={{ trace, onSelect }}>
            {conversation.turns.length === 0 ? (
              <NoConversation />
            ) : (
              <Turns conversation={conversation} quoted={quoted} />
            )}
          </TurnsContext>
        )}
      </Loaded>
    </div>
  );
}

// The beginning and the end of a long chat are shown, the middle on request.
const headShown = 20;
const tailShown = 30;
const moreShown = 50;

type TurnsProps = { conversation: Conversation; quoted: Quoted | undefined };

function Turns({ conversation: { turns, omitted, complete }, quoted }: TurnsProps) {
  const [chosenHead, setHead] = useState(headShown);
  const quotedAt = useMemo(() => quoted && turnQuoted(turns, quoted), [turns, quoted]);
  const isInTail = quotedAt === undefined || quotedAt >= turns.length - tailShown;
  const head = isInTail ? chosenHead : Math.max(chosenHead, quotedAt + 1);
  const hidden = Math.max(0, turns.length - head - tailShown);
  const shown = turns.map((turn, at) => ({ turn, at })).filter(({ at }) => at < head || at >= head + hidden);
  return (
    <>
      {!complete && (
        <Notice tone="info">
          Not all messages are shown
          {omitted && `: ${counted(omitted.count, "message")} after the first ${omitted.after} are left out`}.
          The spans contain all of them.
        </Notice>
      )}
      {quoted && quotedAt === undefined && <QuotedElsewhere quoted={quoted} />}
      <RawToggle />
      <ol className="turns">
        {shown.map(({ turn, at }) => (
          <Fragment key={at}>
            {hidden > 0 && at === head + hidden && (
              <li className="turns-hidden">
                <Button onClick={() => setHead(head + moreShown)}>
                  Show {Math.min(moreShown, hidden)} of {counted(hidden, "hidden message")}
                </Button>
              </li>
            )}
            <li className="turn" data-agent={turn.agent ? true : undefined}>
              {turn.agent && turn.agent.spanId !== turns[at - 1]?.agent?.spanId && (
                <SubAgent agent={turn.agent} />
              )}
              <QuotedContext value={at === quotedAt ? quoted?.text : undefined}>
                {turn.kind === "message" ? <MessageTurn turn={turn} /> : <ToolCallTurn turn={turn} />}
              </QuotedContext>
            </li>
          </Fragment>
        ))}
      </ol>
    </>
  );
}

function RawToggle() {
  const isRaw = textForm.use() === "raw";
  return (
    <div className="turns-raw">
      <Button
        small
        look="plain"
        aria-pressed={isRaw}
        title="Show messages as they were written, without formatting"
        onClick={() => textForm.set(isRaw ? "markdown" : "raw")}
      >
        Raw text
      </Button>
    </div>
  );
}

/** The passage was judged but is in no message: it is elsewhere in the spans, or the trace has changed since. */
function QuotedElsewhere({ quoted: { places } }: { quoted: Quoted }) {
  const { trace, onSelect } = useTurns();
  return (
    <Notice tone="info" role="status">
      <p>The quoted passage is not in any message shown here. The judged text is in:</p>
      <ul className="line">
        {places.map(({ spanId, attribute }) => (
          <li key={`${spanId} ${attribute}`}>
            <Button look="link" onClick={() => onSelect({ span: spanId, attribute })}>
              {trace.spans.find(span => span.spanId === spanId)?.name ?? spanId}
              {attribute && ` · ${attribute}`}
            </Button>
          </li>
        ))}
      </ul>
    </Notice>
  );
}

function SubAgent({ agent }: { agent: NonNullable<Turn["agent"]> }) {
  return (
    <p className="turn-agent">
      Sub-agent <strong className="break">{agent.name}</strong>
    </p>
  );
}
