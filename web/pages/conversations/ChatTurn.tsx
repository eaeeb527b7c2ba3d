// One turn of a conversation: what the user wrote, the tools called, the reply, and how the trace was evaluated.
import { Link } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import type { ConversationTurn } from "../../../src/http/traces/conversations-schemas.ts";
import { durationText, numberText } from "../../format.ts";
import { counted } from "../../labels.ts";
import { Badge, Verdict } from "../../ui/Badge.tsx";
import { Icon } from "../../ui/Icon.tsx";
import Markdown from "../../ui/Markdown.tsx";
import { MomentTime } from "../../ui/Time.tsx";
import { TraceText } from "../../ui/TraceText.tsx";

type ChatTurnProps = {
  turn: ConversationTurn;
  /** The turn that the URL names: scrolled to and marked. */
  isCurrent: boolean;
  params: { projectId: string; agentId: string };
};

const failedSpan = { text: "Failed span", icon: "warning", tone: "bad" } as const;
const testRun = { text: "Test run", icon: "play" } as const;

export function ChatTurn({ turn, isCurrent, params }: ChatTurnProps) {
  const item = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (isCurrent) item.current?.scrollIntoView({ block: "center" });
  }, [isCurrent]);
  const { userInput, responseText, shortened } = turn;
  const toTrace = { ...params, traceId: turn.id };
  const name = turn.number === null ? "Turn" : `Turn ${numberText(turn.number)}`;
  return (
    <li ref={item} className="chat-turn" data-current={isCurrent || undefined}>
      <article className="turn-message" data-role="user" aria-label={`${name}: user`}>
        <header className="turn-top">
          <span className="turn-who">
            <Icon name="person" />
            User
          </span>
          <span className="turn-actions quiet small">
            <MomentTime at={turn.startedAt} />
          </span>
        </header>
        {userInput ? <Words text={userInput} /> : <p className="quiet">{textMissing(turn, "user input")}</p>}
      </article>
      <Calls turn={turn} />
      <article className="turn-message" data-role="assistant" aria-label={`${name}: agent`}>
        <header className="turn-top">
          <span className="turn-who">
            <Icon name="agent" />
            Agent
          </span>
        </header>
        {responseText ? <Words text={responseText} /> : <p className="quiet">{textMissing(turn, "reply")}</p>}
        {shortened && <p className="quiet small">Shortened. Open the trace to read all of it.</p>}
      </article>
      <footer className="chat-end small">
        <Verdict run={turn.run} />
        <FailedTests turn={turn} params={toTrace} />
        {turn.failed && <Badge word={failedSpan} />}
        {turn.kind === "test_run" && <Badge word={testRun} />}
        {turn.durationMs !== null && <span className="quiet">{durationText(turn.durationMs)}</span>}
        {turn.tokens.total !== null && <span className="quiet">{counted(turn.tokens.total, "token")}</span>}
        <Link
          to="/projects/$projectId/agents/$agentId/traces/$traceId"
          params={toTrace}
          className="chat-open"
          aria-label={`Open trace of ${name.toLowerCase()}`}
        >
          {name}: open trace
        </Link>
      </footer>
    </li>
  );
}

function textMissing({ hasContent, contentForgottenAt }: ConversationTurn, what: string): string {
  if (hasContent) return `No ${what} in this trace.`;
  return contentForgottenAt === null ? "Content was not stored." : "Content was dropped.";
}

function Words({ text }: { text: string }) {
  const plain = (
    <div className="long-text">
      <TraceText text={text} />
    </div>
  );
  return <Markdown text={text} plain={plain} />;
}

function Calls({ turn: { toolCalls, toolCallCount } }: { turn: ConversationTurn }) {
  if (toolCallCount === 0) return null;
  if (toolCallCount === null) {
    return <p className="quiet small">This trace is too large to be read here. Texts are shortened.</p>;
  }
  const left = toolCallCount - toolCalls.length;
  return (
    <ul className="chat-calls" aria-label="Tool calls">
      {toolCalls.map(({ spanId, name, failed }, at) => (
        <li key={`${spanId} ${at}`} className="chat-call" data-failed={failed || undefined}>
          <Icon name={failed ? "warning" : "tool"} />
          <bdi className="mono">{name}</bdi>
          {failed && <span> failed</span>}
        </li>
      ))}
      {left > 0 && <li className="quiet">{numberText(left)} more</li>}
    </ul>
  );
}

type FailedProps = {
  turn: ConversationTurn;
  params: { projectId: string; agentId: string; traceId: string };
};

function FailedTests({ turn: { failedTests, run }, params }: FailedProps) {
  if (failedTests.length === 0) return null;
  const left = (run?.counts?.failed ?? 0) - failedTests.length;
  return (
    <span className="chat-failed">
      {failedTests.map(({ id, name }) => (
        <Link
          key={id}
          to="/projects/$projectId/agents/$agentId/traces/$traceId"
          params={params}
          search={{ test: id }}
        >
          <bdi>{name}</bdi>
        </Link>
      ))}
      {left > 0 && <span className="quiet">{numberText(left)} more</span>}
    </span>
  );
}
