// The turns of a test run: message, reply, request id, trace id, and a link to the trace.
import { Link } from "@tanstack/react-router";
import type { ManualRun } from "../../../src/http/test-cases/launch-schemas.ts";
import type { RunTurn } from "../../../src/model/run/launch.ts";
import { durationText } from "../../format.ts";
import { Badge } from "../../ui/Badge.tsx";
import { CopyText } from "../../ui/Copy.tsx";
import { LongText } from "../../ui/LongText.tsx";
import { Notice } from "../../ui/Notice.tsx";
import { TraceText } from "../../ui/TraceText.tsx";

type Params = { projectId: string; agentId: string };

type TurnListProps = {
  run: ManualRun;
  /** Numbers of the turns whose trace was deleted. */
  params: Params;
};

/** Also counts the turns that are not sent yet: their number is known from the test. */
export function TurnList({ run, params }: TurnListProps) {
  // A run that is evaluated again sends nothing.
  const isOpen = run.finishedAt === null && (run.state === "pending" || run.state === "running");
  const left = run.turnCount - run.turns.length;
  return (
    <ol className="runs-turns">
      {run.turns.map(turn => (
        <li key={turn.turn} className="card stack-tight">
          <TurnItem turn={turn} isOpen={isOpen} params={params} />
        </li>
      ))}
      {left > 0 && (
        <li className="quiet">
          {isOpen
            ? `${left === 1 ? "1 turn is" : `${left} turns are`} not sent yet.`
            : `${left === 1 ? "1 turn was" : `${left} turns were`} not sent.`}
        </li>
      )}
    </ol>
  );
}

function withoutText({ content, replyFrom }: RunTurn): string {
  if (content === "forgotten") return "The reply was dropped: the agent is set to forget content.";
  if (content === "none") return "The reply was not stored: the agent is set to store no content.";
  return replyFrom === "trace" ? "It arrives with the trace." : "The reply has no text.";
}

type TurnItemProps = {
  turn: RunTurn;
  isOpen: boolean;
  /** The trace was deleted. */
  params: Params;
};

function TurnItem(props: TurnItemProps) {
  const { turn, isOpen } = props;
  const { input, text, error, status, ms } = turn;
  const isFromTrace = turn.replyFrom === "trace";
  return (
    <>
      <h3 className="line line-apart">
        <span>Turn {turn.turn}</span>
        <span className="line quiet small">
          {status !== null && <span>HTTP {status}</span>}
          {ms !== null && <span>{durationText(ms)}</span>}
        </span>
      </h3>
      <div className="runs-said">
        <h4>Sent</h4>
        <LongText text={input} label={`Message of turn ${turn.turn}`} />
      </div>
      <div className="runs-said">
        <h4>Reply</h4>
        {isFromTrace && text !== null && <p className="quiet small">Read from the trace</p>}
        {ms === null && isOpen && <Badge word={{ text: "Waiting for reply", icon: "spin", tone: "info" }} />}
        {ms === null && !isOpen && <p className="quiet">The run ended before the reply arrived.</p>}
        {text !== null && text !== "" && <LongText text={text} label={`Reply of turn ${turn.turn}`} />}
        {text === "" && <p className="quiet">Empty reply</p>}
        {ms !== null && text === null && !error && <p className="quiet">{withoutText(turn)}</p>}
        {error && (
          <Notice tone="bad">
            <p>
              <TraceText text={error.reason} />
            </p>
          </Notice>
        )}
      </div>
      <Differences turn={turn} />
      <TraceLine {...props} />
      <dl className="runs-ids small quiet">
        <dt>x-request-id</dt>
        <dd>
          <CopyText text={turn.requestId} label={`request ID of turn ${turn.turn}`} />
        </dd>
        <dt>Trace ID sent</dt>
        <dd>
          <CopyText text={turn.w3cTraceId} label={`trace ID of turn ${turn.turn}`} />
        </dd>
      </dl>
    </>
  );
}

/** The status and reply of the agent's trace, where they differ from the received ones above. */
function Differences({ turn: { turn, status, statusInTrace, replyInTrace } }: { turn: RunTurn }) {
  if (statusInTrace === undefined && replyInTrace === undefined) return null;
  return (
    <Notice tone="info">
      {statusInTrace !== undefined && (
        <p>
          The trace says HTTP {statusInTrace}; Onlooker received{" "}
          {status === null ? "no status" : `HTTP ${status}`}.
        </p>
      )}
      {replyInTrace !== undefined && (
        <>
          <p>The trace has another reply:</p>
          <LongText text={replyInTrace} label={`Reply in the trace of turn ${turn}`} />
        </>
      )}
    </Notice>
  );
}

function TraceLine({ turn: { turn, ms, arrived, waitedMs, traceId }, isOpen, params }: TurnItemProps) {
  if (traceId === null) {
    if (!isOpen || ms === null) return null;
    return (
      <p>
        <Badge word={{ text: "Waiting for trace", icon: "spin", tone: "info" }} />
      </p>
    );
  }
  return (
    <p className="line">
      <Link
        to="/projects/$projectId/agents/$agentId/traces/$traceId"
        params={{ ...params, traceId }}
        className="button button-small"
      >
        Open trace<span className="unseen"> of turn {turn}</span>
      </Link>
      <span className="quiet small">
        {arrived
          ? "Sent by the agent"
          : `The agent sent no trace ${waitedMs ? `within ${durationText(waitedMs)}` : "in time"}, so Onlooker built this one.`}
      </span>
    </p>
  );
}
