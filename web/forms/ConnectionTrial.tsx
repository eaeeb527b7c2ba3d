// Sends a test message to the agent with the connection in the form, and shows the result.

import { useState } from "react";
import type { AgentTrial } from "../../src/http/projects/schemas.ts";
import type { Failure } from "../api.ts";
import { durationText } from "../format.ts";
import { tryConnection } from "../mutations/agents.ts";
import { Button } from "../ui/Button.tsx";
import { Field } from "../ui/Field.tsx";
import { LongText } from "../ui/LongText.tsx";
import { FailureNotice, Notice } from "../ui/Notice.tsx";

type ConnectionTrialProps = {
  agentId: string;
  /** The connection to test, as it would be saved. */
  document: () => object;
  /** Called before sending; false if the form has errors. */
  onSend: () => boolean;
  /** Shows the error at the form's fields; false if it belongs to none. */
  onFailure: (failure: Failure) => boolean;
};

export function ConnectionTrial({ agentId, document, onSend, onFailure }: ConnectionTrialProps) {
  const [input, setInput] = useState("Hello");
  const [busy, setBusy] = useState(false);
  const [trial, setTrial] = useState<AgentTrial>();
  const [failure, setFailure] = useState<Failure>();

  async function send(): Promise<void> {
    if (busy || input === "" || !onSend()) return;
    setBusy(true);
    setTrial(undefined);
    setFailure(undefined);
    const answer = await tryConnection(agentId, { input, connection: document() });
    setBusy(false);
    if (answer.ok) setTrial(answer.value);
    else if (!onFailure(answer.failure)) setFailure(answer.failure);
  }

  return (
    <form
      className="stack connection-trial"
      onSubmit={event => {
        event.preventDefault();
        void send();
      }}
    >
      <div className="connection-try">
        <Field
          label="Test message"
          name="input"
          value={input}
          onChange={({ target }) => setInput(target.value)}
          autoComplete="off"
        />
        <Button type="submit" busy={busy}>
          Send test message
        </Button>
      </div>
      <div role="status" className="stack">
        {busy && <p className="quiet">Waiting for the reply (at most 60 s)…</p>}
        {trial && <Outcome trial={trial} />}
      </div>
      <FailureNotice failure={failure} />
    </form>
  );
}

function Outcome({ trial }: { trial: AgentTrial }) {
  const { ok, status, ms, text, contentType, reason, requestId } = trial;
  const facts = [status === null ? "No reply" : `Status ${status}`, durationText(ms), contentType];
  return (
    <>
      <Notice tone={ok ? "good" : "bad"}>
        <p>{ok ? answerText(text) : reason}</p>
        <p className="quiet small break">
          {facts.filter(Boolean).join(" · ")} · x-request-id <span className="mono">{requestId}</span>
        </p>
      </Notice>
      {text && (
        <div className="connection-reply">
          <LongText text={text} label="the reply" />
        </div>
      )}
    </>
  );
}

/** Null: the connection reads the reply from the trace, which a test message does not ask for. */
function answerText(text: string | null): string {
  if (text === null) return "The agent accepted the message. In runs, its reply is read from the trace.";
  return text === "" ? "The agent replied with empty text." : "The agent replied.";
}
