// One-line form that sets the service name of an agent that has none.
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Agent } from "../../src/model/agent/agent.ts";
import { agentQuery } from "../queries/agents.ts";
import { readNow } from "../queries/client.ts";
import { Button } from "../ui/Button.tsx";
import { Field } from "../ui/Field.tsx";
import { FailureNotice } from "../ui/Notice.tsx";
import type { Drafting } from "./draft.ts";
import { OutdatedNotice } from "./OutdatedNotice.tsx";
import { setServiceName } from "./service-name.ts";
import { useSubmit } from "./submit.ts";
import { useDraft } from "./use-draft.ts";

/** Nothing once the agent has a name, unless the user has typed another. */
export function ServiceNameForm({ agent }: { agent: Agent }) {
  const queries = useQueryClient();
  const [drafting] = useState(() => draftingFrom(slugOf(agent.name)));
  const { draft, ...drafted } = useDraft(
    agent.otlpServiceName,
    drafting,
    async () => (await readNow(queries, agentQuery(agent.id))).otlpServiceName,
  );
  const {
    form,
    busy,
    faults,
    failure,
    draft: shown,
  } = useSubmit<Agent>({
    draft: drafted,
    send: () => setServiceName(queries, agent, draft),
    fieldOf: ({ code }) => (code === "CONFLICT" ? "otlpServiceName" : undefined),
    done: saved => drafted.settle(draft, saved.otlpServiceName),
  });
  if (agent.otlpServiceName !== null && !drafted.isChanged) return null;
  return (
    <form {...form} className="stack-tight">
      <Field
        label="OTLP service name"
        name="otlpServiceName"
        required
        maxLength={255}
        value={draft}
        onChange={({ target }) => drafted.replace(target.value)}
        hint="The service name that your OpenTelemetry exporter will send. Traces in plain JSON, as with curl, do not need one."
        fault={faults["otlpServiceName"]}
        autoComplete="off"
        spellCheck={false}
      />
      <FailureNotice failure={failure} />
      <OutdatedNotice isOutdated={drafted.isOutdated} />
      <div className="line">
        <Button type="submit" busy={busy}>
          Save service name
        </Button>
        {drafted.isChanged && <Button onClick={shown?.discard}>Discard changes</Button>}
      </div>
    </form>
  );
}

/** Without a name, the draft begins with a suggestion. */
function draftingFrom(suggested: string): Drafting<string | null, string> {
  return { toDraft: name => name ?? suggested, fromDraft: draft => draft };
}

/** A typical service name: "Shop assistant" becomes "shop-assistant". */
function slugOf(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^-|-$/g, "");
}
