// Form for an agent, new or existing: name, type and OTLP service name.

import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import type { Agent, AgentType } from "../../src/model/agent/agent.ts";
import { agentTypes, counted } from "../labels.ts";
import { createAgent, updateAgent } from "../mutations/agents.ts";
import { agentQuery, agentsQuery, recentMax, recentOtlpQuery } from "../queries/agents.ts";
import { readNow } from "../queries/client.ts";
import { Choices, Field } from "../ui/Field.tsx";
import { Notice } from "../ui/Notice.tsx";
import { changedFields, fieldsDrafting } from "./draft.ts";
import { NameField } from "./NameField.tsx";
import { SubmitRow } from "./SubmitRow.tsx";
import { useSubmit } from "./submit.ts";
import { useDraft } from "./use-draft.ts";

const types = (Object.keys(agentTypes) as AgentType[]).map(value => ({ value, label: agentTypes[value] }));

type Fields = Pick<Agent, "name" | "type" | "otlpServiceName">;
type Draft = Record<keyof Fields, string> & { type: AgentType };

const blank: Fields = { name: "", type: "http_api", otlpServiceName: null };
const fieldsOf = ({ name, type, otlpServiceName }: Fields): Fields => ({ name, type, otlpServiceName });
const drafting = fieldsDrafting<Fields, Draft>(
  fields => ({ ...fields, otlpServiceName: fields.otlpServiceName ?? "" }),
  draft => ({ ...draft, otlpServiceName: draft.otlpServiceName || null }),
);

type AgentFormProps = { projectId: string; agent?: Agent; onDone: (agent: Agent) => void };

export function AgentForm({ projectId, agent, onDone }: AgentFormProps) {
  const queries = useQueryClient();
  const saved = agent ? fieldsOf(agent) : blank;
  const { draft, change, ...drafted } = useDraft(saved, drafting, async () =>
    agent ? fieldsOf(await readNow(queries, agentQuery(agent.id))) : blank,
  );
  const { type, otlpServiceName: serviceName } = draft;
  const taken = useNameConflict(projectId, agent, serviceName);
  const { form, faults, ...row } = useSubmit<Agent>({
    draft: agent && drafted,
    check: (): Record<string, string> => (taken ? { otlpServiceName: taken } : {}),
    send: () => {
      const body = drafting.fromDraft(draft);
      return agent ? updateAgent(agent.id, changedFields(saved, body)) : createAgent(projectId, body);
    },
    fieldOf: ({ code }) => (code === "CONFLICT" ? "otlpServiceName" : undefined),
    done: async answer => {
      drafted.settle(draft, fieldsOf(answer));
      queries.setQueryData(agentQuery(answer.id).queryKey, answer);
      await queries.invalidateQueries({ queryKey: agentsQuery(projectId).queryKey });
      onDone(answer);
    },
  });
  return (
    <form {...form} className="stack">
      <NameField
        value={draft.name}
        onChange={({ target }) => change({ name: target.value })}
        fault={faults["name"]}
      />
      <Choices
        label="Type"
        name="type"
        choices={types}
        chosen={[type]}
        onChoose={([chosen]) => chosen && change({ type: chosen })}
        fault={faults["type"]}
      />
      <Field
        label="OTLP service name (optional)"
        name="otlpServiceName"
        maxLength={255}
        value={serviceName}
        onChange={({ target }) => change({ otlpServiceName: target.value })}
        fault={taken ?? faults["otlpServiceName"]}
        hint="Must be exactly the service.name that your OpenTelemetry exporter sends (case-sensitive)."
        autoComplete="off"
        spellCheck={false}
      />
      {agent?.otlpServiceName && serviceName !== agent.otlpServiceName && (
        <OldNameNotice agent={agent} oldName={agent.otlpServiceName} />
      )}
      <SubmitRow {...row}>{agent ? "Save" : "Create agent"}</SubmitRow>
    </form>
  );
}

/** Error if another agent has this service name. Checks only the agents loaded so far; the server checks all. */
function useNameConflict(
  projectId: string,
  agent: Agent | undefined,
  serviceName: string,
): string | undefined {
  const { data: agents = [] } = useInfiniteQuery(agentsQuery(projectId));
  if (serviceName === "") return undefined;
  const other = agents.find(one => one.otlpServiceName === serviceName && one.id !== agent?.id);
  return other && `Agent “${other.name}” already has this service name.`;
}

function OldNameNotice({ agent, oldName }: { agent: Agent; oldName: string }) {
  const { data: recent } = useQuery(recentOtlpQuery(agent.id));
  const seen = recent === recentMax ? `At least ${recent} traces` : counted(recent ?? 0, "trace");
  return (
    <Notice tone="warn" role="status">
      {recent !== undefined && `${seen} arrived by OTLP in the last 24 hours. `}
      Exporters that still send <code className="break">{oldName}</code> will be rejected with 404{" "}
      <code>OTLP_PLATFORM_NOT_FOUND</code>.
    </Notice>
  );
}
