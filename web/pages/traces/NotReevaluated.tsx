// Dialog that says which selected traces were not re-evaluated, and why.
import { Link } from "@tanstack/react-router";
import type { JudgedAgain } from "../../../src/http/judge/schemas.ts";
import { counted } from "../../labels.ts";
import type { TraceRow } from "../../queries/use-trace-list.ts";
import { Button } from "../../ui/Button.tsx";
import { Dialog } from "../../ui/Dialog.tsx";
import { TraceText } from "../../ui/TraceText.tsx";

type NotReevaluatedProps = {
  params: { projectId: string; agentId: string };
  refused: JudgedAgain["refused"];
  /** The traces, for their words. */
  chosen: readonly TraceRow[];
  onClose: () => void;
};

export function NotReevaluated({ params, refused, chosen, onClose }: NotReevaluatedProps) {
  const byReason = Map.groupBy(refused, ({ message }) => message);
  const wordsOf = (traceId: string) => {
    const trace = chosen.find(({ id }) => id === traceId);
    return trace?.userInput || trace?.name || traceId;
  };
  return (
    <Dialog title={`${counted(refused.length, "trace")} not re-evaluated`} onClose={onClose}>
      {[...byReason].map(([message, traces]) => (
        <section key={message} className="stack-tight">
          <p>{message}</p>
          <ul className="refused-traces">
            {traces.map(({ traceId }) => (
              <li key={traceId}>
                <Link
                  to="/projects/$projectId/agents/$agentId/traces/$traceId"
                  params={{ ...params, traceId }}
                >
                  <bdi>
                    <TraceText text={wordsOf(traceId)} />
                  </bdi>
                </Link>
              </li>
            ))}
          </ul>
        </section>
      ))}
      <div className="line line-end">
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  );
}
