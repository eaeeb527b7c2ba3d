// A dialog that assigns a service name seen in requests to an agent.
import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Agent } from "../../../src/model/agent/agent.ts";
import { SubmitRow } from "../../forms/SubmitRow.tsx";
import { oldNameRejected, setServiceName } from "../../forms/service-name.ts";
import { useSubmit } from "../../forms/submit.ts";
import { agentsQuery } from "../../queries/agents.ts";
import { Dialog } from "../../ui/Dialog.tsx";
import { Choices } from "../../ui/Field.tsx";
import { Notice } from "../../ui/Notice.tsx";
import { MorePages } from "../../ui/State.tsx";
import { toast } from "../../ui/Toast.tsx";

type AssignServiceNameProps = { projectId: string; serviceName: string; onClose: () => void };

export function AssignServiceName({ projectId, serviceName, onClose }: AssignServiceNameProps) {
  const queries = useQueryClient();
  const agents = useInfiniteQuery(agentsQuery(projectId));
  const [chosenId, setChosenId] = useState<string>();
  const items = agents.data ?? [];
  const chosen = items.find(({ id }) => id === chosenId) ?? items.find(one => one.otlpServiceName === null);
  const { form, busy, failure, faults } = useSubmit<Agent>({
    check: () => (chosen ? {} : { agent: "Choose an agent." }),
    send: () => setServiceName(queries, chosen!, serviceName),
    done: ({ name }) => {
      toast(`“${serviceName}” is now the service name of ${name}. Resend the rejected traces.`);
      onClose();
    },
  });
  return (
    <Dialog
      title="Assign service name"
      about={
        <>
          Traces exported as <code className="ingestion-name">{serviceName}</code> will go to this agent.
        </>
      }
      onClose={onClose}
    >
      <form {...form} className="stack">
        {agents.data?.length === 0 && (
          <p>
            This project has no agents yet.{" "}
            <Link to="/projects/$projectId/agents" params={{ projectId }}>
              Create one
            </Link>
          </p>
        )}
        <Choices
          label="Agent"
          name="agent"
          choices={items.map(({ id, name, otlpServiceName }) => ({
            value: id,
            label: name,
            note: otlpServiceName ?? undefined,
          }))}
          chosen={chosen ? [chosen.id] : []}
          onChoose={([id]) => setChosenId(id)}
          fault={faults["agent"]}
        />
        <MorePages query={agents} />
        {chosen?.otlpServiceName && (
          <Notice tone="warn" role="status">
            Replaces <code className="ingestion-name">{chosen.otlpServiceName}</code>. {oldNameRejected}
          </Notice>
        )}
        <SubmitRow failure={failure} busy={busy} onCancel={onClose}>
          Assign name
        </SubmitRow>
      </form>
    </Dialog>
  );
}
