// Section of the agent settings: the tracing conventions and own rules that its traces are read by.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Agent, AgentConventions } from "../../src/http/projects/schemas.ts";
import type { Failure } from "../api.ts";
import { numberText } from "../format.ts";
import { updateAgent } from "../mutations/agents.ts";
import { agentQuery } from "../queries/agents.ts";
import { readNow } from "../queries/client.ts";
import { conventionsQuery } from "../queries/conventions.ts";
import { Button } from "../ui/Button.tsx";
import { Choices } from "../ui/Field.tsx";
import { FailureNotice, Notice } from "../ui/Notice.tsx";
import { Loaded } from "../ui/State.tsx";
import { toast } from "../ui/Toast.tsx";
import { OwnRules } from "./OwnRules.tsx";
import { SubmitRow } from "./SubmitRow.tsx";
import { useSubmit } from "./submit.ts";
import { useDraft } from "./use-draft.ts";

const all = "*";
const none = "none";
/** In the order of choosing, which does not count. */
const drafting = {
  toDraft: (conventions: string[]) => conventions,
  fromDraft: (chosen: string[]) => chosen.toSorted((a, b) => a.localeCompare(b, "en")),
};

export function ConventionsSection({ agent }: { agent: Agent }) {
  const query = useQuery(conventionsQuery(agent.id));
  return (
    <section className="card stack" aria-labelledby="conventions" id="conventions-settings">
      <div className="stack-tight">
        <h2 id="conventions">Conventions</h2>
        <p className="quiet">
          Traces are read by the conventions they are written in, beside the documented attributes. Stored
          traces stay as they are, and what was read this way is marked. A change counts for the next
          evaluations.
        </p>
      </div>
      <Loaded query={query}>
        {({ conventions, ruleTargets, rereading }) => (
          <>
            {rereading && <Progress {...rereading} />}
            {agent.readFrom && <ReadFrom agent={agent} spanName={agent.readFrom.spanName} />}
            <ConventionsForm agent={agent} known={conventions} />
            <OwnRules agent={agent} targets={ruleTargets} />
          </>
        )}
      </Loaded>
    </section>
  );
}

function Progress({ left, of }: { left: number; of: number }) {
  return (
    <Notice tone="info" role="status">
      Reading the latest traces again: {numberText(of - left)} of {numberText(of)} done. Until then, lists
      show earlier values.
    </Notice>
  );
}

/** Set on a trace with several model calls; here it is undone. */
function ReadFrom({ agent, spanName }: { agent: Agent; spanName: string }) {
  const queries = useQueryClient();
  const [failure, setFailure] = useState<Failure>();
  const reset = async () => {
    const answer = await updateAgent(agent.id, { readFrom: null });
    if (!answer.ok) return setFailure(answer.failure);
    queries.setQueryData(agentQuery(agent.id).queryKey, answer.value);
    await queries.invalidateQueries({ queryKey: ["traces"] });
  };
  return (
    <Notice tone="info">
      Input and reply are read from spans named “{spanName}”.{" "}
      <Button small onClick={() => void reset()}>
        Read as usual
      </Button>
      <FailureNotice failure={failure} />
    </Notice>
  );
}

function ConventionsForm({ agent, known }: { agent: Agent; known: AgentConventions["conventions"] }) {
  const queries = useQueryClient();
  const query = agentQuery(agent.id);
  const { draft: chosen, ...drafted } = useDraft(
    agent.conventions,
    drafting,
    async () => (await readNow(queries, query)).conventions,
  );
  const { form, faults, ...row } = useSubmit<Agent>({
    draft: drafted,
    send: () => updateAgent(agent.id, { conventions: chosen }),
    done: async saved => {
      drafted.settle(chosen, saved.conventions);
      queries.setQueryData(query.queryKey, saved);
      toast("Conventions saved");
      await Promise.all([
        queries.invalidateQueries({ queryKey: conventionsQuery(agent.id).queryKey }),
        queries.invalidateQueries({ queryKey: ["traces"] }),
      ]);
    },
  });
  const isSaved = ({ name }: { name: string }) => agent.conventions.includes(name);
  const listed = known.toSorted(
    (a, b) => Number(isSaved(b)) - Number(isSaved(a)) || a.title.localeCompare(b.title, "en"),
  );
  // "All" and "none" stand alone: choosing another gives them up.
  const choose = (next: string[]) => {
    const last = next.at(-1);
    const others = next.filter(name => name !== all && name !== none);
    drafted.replace(last === all ? [all] : last === none ? [] : others);
  };
  return (
    <form {...form} className="stack" aria-label="Conventions">
      <Choices
        name="conventions"
        label="Read"
        many
        choices={[
          { value: all, label: "All conventions", note: "Each span is read by the one that recognizes it." },
          { value: none, label: "Documented attributes only", note: "Other conventions are not read." },
          ...listed.map(({ name, title, writes }) => ({ value: name, label: title, note: writes })),
        ]}
        chosen={chosen.length === 0 ? [none] : chosen}
        onChoose={choose}
        fault={faults["conventions"]}
      />
      <SubmitRow {...row}>Save conventions</SubmitRow>
    </form>
  );
}
