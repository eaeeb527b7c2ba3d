// The last step: the verdict of the latest trace, or what is still missing for one.
import { Link } from "@tanstack/react-router";
import type { ListedTrace } from "../../../src/http/traces/schemas.ts";
import type { Agent } from "../../../src/model/agent/agent.ts";
import { Verdict } from "../../ui/Badge.tsx";
import { SendSample } from "./Live.tsx";

type VerdictStepProps = { agent: Agent; trace: ListedTrace | undefined; hasTest: boolean };

export function VerdictStep({ agent, trace, hasTest }: VerdictStepProps) {
  if (!trace) return <p className="quiet">The verdict of the first evaluated trace appears here.</p>;
  if (!trace.run) {
    if (!hasTest) return <p className="quiet">The latest trace was not evaluated: no test applied to it.</p>;
    return (
      <>
        <p>
          Active test cases apply to new traces only. <strong>Run the command of step 3 again</strong>, or
          send a sample.
        </p>
        <SendSample agent={agent} again />
      </>
    );
  }
  return (
    <>
      <p className="line">
        <Verdict run={trace.run} /> <span className="break">{trace.name}</span>
      </p>
      <div>
        <Link
          to="/projects/$projectId/agents/$agentId/traces/$traceId"
          params={{ projectId: agent.projectId, agentId: agent.id, traceId: trace.id }}
          className="button"
          data-look={trace.run.verdict ? "main" : undefined}
        >
          Open evaluation
        </Link>
      </div>
    </>
  );
}
