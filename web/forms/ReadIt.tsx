// Offers to read a trace by the conventions it is written in, with a preview of what they give.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Fragment, useState } from "react";
import type { TraceOutline, TracePreview } from "../../src/http/traces/schemas.ts";
import type { Failure } from "../api.ts";
import { numberText } from "../format.ts";
import { updateAgent } from "../mutations/agents.ts";
import { agentQuery } from "../queries/agents.ts";
import { conventionsQuery, previewQuery } from "../queries/conventions.ts";
import { Button } from "../ui/Button.tsx";
import { FailureNotice, Notice } from "../ui/Notice.tsx";
import { toast } from "../ui/Toast.tsx";
import { TraceText } from "../ui/TraceText.tsx";

type Readable = Pick<TraceOutline, "id" | "agentId" | "conventions" | "readable">;

export function ReadIt({ trace }: { trace: Readable }) {
  const { id, agentId, readable } = trace;
  const chosen = [...trace.conventions, ...readable];
  const titles = useConventionTitles(agentId);
  const { data: preview } = useQuery(previewQuery(id, chosen));
  const queries = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  const names = readable.map(titles).join(" and ");
  const start = async () => {
    setBusy(true);
    setFailure(undefined);
    const answer = await updateAgent(agentId, { conventions: chosen });
    setBusy(false);
    if (!answer.ok) return setFailure(answer.failure);
    queries.setQueryData(agentQuery(agentId).queryKey, answer.value);
    toast(`Reading ${names}`);
    await Promise.all(
      [["traces"], conventionsQuery(agentId).queryKey].map(queryKey =>
        queries.invalidateQueries({ queryKey }),
      ),
    );
  };
  return (
    <Notice tone="info">
      <div className="stack-tight">
        <p>
          <b>This trace is written in the {names} convention</b>, which is not read yet. Reading it changes no
          stored trace and can be turned off in the agent’s settings.
        </p>
        {preview && <Preview preview={preview} />}
        <div>
          <Button small look="main" busy={busy} onClick={() => void start()}>
            Read it
          </Button>
        </div>
        <FailureNotice failure={failure} />
      </div>
    </Notice>
  );
}

/** The title of a convention, or of the agent's own rules, by its name. `needed`: false reads nothing. */
export function useConventionTitles(agentId: string, needed = true): (name: string) => string {
  const { data } = useQuery({ ...conventionsQuery(agentId), enabled: needed });
  return name =>
    name === "rules" ? "own rules" : (data?.conventions.find(one => one.name === name)?.title ?? name);
}

function Preview({ preview }: { preview: TracePreview }) {
  const { userInput, responseText, tools, tokens, model } = preview;
  const facts = {
    Input: userInput,
    Reply: responseText,
    Tools: tools.join(", "),
    Tokens: tokens.total === null ? null : numberText(tokens.total),
    Model: model,
  };
  return (
    <dl className="facts" aria-label="What reading it gives">
      {Object.entries(facts).map(([name, value]) => (
        <Fragment key={name}>
          <dt>{name}</dt>
          <dd className="break">
            {value ? <TraceText text={value} /> : <span className="quiet">Not in this trace</span>}
          </dd>
        </Fragment>
      ))}
    </dl>
  );
}
