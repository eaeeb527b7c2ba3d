// Says which of several model calls input and reply were read from, and reads them from another in one click.
import { useQueryClient } from "@tanstack/react-query";
import { Fragment, useState } from "react";
import type { TraceOutline } from "../../../src/http/traces/schemas.ts";
import type { Failure } from "../../api.ts";
import { numberText } from "../../format.ts";
import { updateAgent } from "../../mutations/agents.ts";
import { agentQuery } from "../../queries/agents.ts";
import { Button } from "../../ui/Button.tsx";
import { FailureNotice, Notice } from "../../ui/Notice.tsx";
import { toast } from "../../ui/Toast.tsx";

export function SeveralCalls({ trace: { agentId, severalModelCalls } }: { trace: TraceOutline }) {
  const queries = useQueryClient();
  const [failure, setFailure] = useState<Failure>();
  if (!severalModelCalls) return null;
  const { calls, read, spanNames } = severalModelCalls;
  const choose = async (spanName: string) => {
    setFailure(undefined);
    const answer = await updateAgent(agentId, { readFrom: { spanName } });
    if (!answer.ok) return setFailure(answer.failure);
    queries.setQueryData(agentQuery(agentId).queryKey, answer.value);
    toast(`Reading input and reply from “${spanName}”`);
    await queries.invalidateQueries({ queryKey: ["traces"] });
  };
  return (
    <Notice tone="info">
      <b>{numberText(calls)} model calls with different inputs; the last one was read</b> (“{read}”). Read
      input and reply of this agent’s traces from{" "}
      {spanNames.map(name => (
        <Fragment key={name}>
          <Button small onClick={() => void choose(name)}>
            {name}
          </Button>{" "}
        </Fragment>
      ))}
      <FailureNotice failure={failure} />
    </Notice>
  );
}
