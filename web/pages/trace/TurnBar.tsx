// The place of a trace in its conversation, with links to the turns beside it and to the traces of its user.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { TraceOutline } from "../../../src/http/traces/schemas.ts";
import { numberText } from "../../format.ts";
import { turnOfTraceQuery } from "../../queries/conversations.ts";
import { Icon } from "../../ui/Icon.tsx";
import { TraceText } from "../../ui/TraceText.tsx";

type TurnBarProps = { trace: TraceOutline; params: { projectId: string; agentId: string } };

export function TurnBar({ trace: { id, conversationId, userId }, params }: TurnBarProps) {
  if (conversationId === null && userId === null) return null;
  return (
    <div className="trace-turn small">
      {conversationId !== null && <Place traceId={id} conversationId={conversationId} params={params} />}
      {userId !== null && (
        <span className="trace-user">
          <span className="quiet">User</span>{" "}
          <Link
            to="/projects/$projectId/agents/$agentId/traces"
            params={params}
            search={{ userId }}
            className="mono"
            title={`Traces of the user ${userId}`}
          >
            <bdi>
              <TraceText text={userId} />
            </bdi>
          </Link>
        </span>
      )}
    </div>
  );
}

type PlaceProps = { traceId: string; conversationId: string; params: TurnBarProps["params"] };

function Place({ traceId, conversationId, params }: PlaceProps) {
  const { data } = useQuery(turnOfTraceQuery(traceId));
  const turn = data?.turn;
  const ofAll = turn && `${numberText(turn.traces.count)}${turn.traces.more ? "+" : ""}`;
  return (
    <>
      <Link
        to="/projects/$projectId/agents/$agentId/traces/conversation"
        params={params}
        search={{ id: conversationId, turn: traceId }}
        title={`Conversation ${conversationId}`}
      >
        {turn?.number ? `Turn ${numberText(turn.number)} of ${ofAll}` : "Conversation"}
      </Link>
      <Beside name="Previous turn" params={params} traceId={turn?.previousTraceId} />
      <Beside name="Next turn" params={params} traceId={turn?.nextTraceId} />
      <Link to="/projects/$projectId/agents/$agentId/traces" params={params} search={{ conversationId }}>
        List its traces
      </Link>
    </>
  );
}

type BesideProps = {
  name: "Previous turn" | "Next turn";
  params: TurnBarProps["params"];
  traceId: string | null | undefined;
};

function Beside({ name, params, traceId }: BesideProps) {
  if (!traceId) return null;
  return (
    <Link
      to="/projects/$projectId/agents/$agentId/traces/$traceId"
      params={{ ...params, traceId }}
      className="trace-beside"
      data-side={name === "Previous turn" ? "previous" : "next"}
    >
      <Icon name="chevron" />
      {name}
    </Link>
  );
}
