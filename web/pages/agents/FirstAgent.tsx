// A project without agents: what Onlooker does, in three sentences and a picture, and the form for the first agent.
import type { Agent } from "../../../src/model/agent/agent.ts";
import { AgentForm } from "../../forms/AgentForm.tsx";

type FirstAgentProps = { projectId: string; onDone: (agent: Agent) => void };

export function FirstAgent({ projectId, onDone }: FirstAgentProps) {
  return (
    <div className="first">
      <section className="card stack" aria-labelledby="first-what">
        <h2 id="first-what">What Onlooker does</h2>
        <Picture />
        <ul className="first-lines">
          <li>Your agent sends a trace of each conversation.</li>
          <li>Your test cases check every trace, without slowing the agent down.</li>
          <li>A failed check shows what went wrong, and where in the conversation.</li>
        </ul>
      </section>
      <section className="card stack" aria-labelledby="first-agent">
        <h2 id="first-agent">Create your first agent</h2>
        <p className="quiet">Next: a key, a trace, a test and its first verdict.</p>
        <AgentForm projectId={projectId} onDone={onDone} />
      </section>
    </div>
  );
}

/** A conversation with an agent, its trace as bars over time, and the checks with their verdicts. */
function Picture() {
  return (
    <svg className="first-picture" viewBox="0 0 480 150" aria-hidden="true" focusable="false">
      <g className="first-box">
        <rect x="1" y="15" width="130" height="120" rx="8" />
        <rect x="175" y="15" width="130" height="120" rx="8" />
        <rect x="349" y="15" width="130" height="120" rx="8" />
      </g>
      <g className="first-arrow">
        <path d="M137 75h30M161 69l6 6-6 6" />
        <path d="M311 75h30M335 69l6 6-6 6" />
      </g>
      <g className="first-user">
        <rect x="49" y="32" width="68" height="20" rx="10" />
      </g>
      <g className="first-reply">
        <rect x="15" y="62" width="86" height="20" rx="10" />
        <rect x="15" y="92" width="58" height="20" rx="10" />
      </g>
      <g className="first-span">
        <rect x="191" y="36" width="98" height="10" rx="3" />
        <rect x="203" y="58" width="62" height="10" rx="3" />
        <rect x="215" y="80" width="34" height="10" rx="3" />
        <rect x="253" y="102" width="30" height="10" rx="3" />
      </g>
      <g className="first-text">
        <path d="M389 45h72M389 75h56M389 105h66" />
      </g>
      <path className="first-good" d="M365 45l5 5 9-10M365 75l5 5 9-10" />
      <path className="first-bad" d="M366 100l10 10M376 100l-10 10" />
    </svg>
  );
}
