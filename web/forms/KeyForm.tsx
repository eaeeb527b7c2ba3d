// Form for a new API key: name, access, expiry and rate limit.

import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { CreatedKey } from "../../src/http/projects/schemas.ts";
import type { KeyAccess } from "../../src/model/key.ts";
import { createKey } from "../mutations/keys.ts";
import { agentsQuery } from "../queries/agents.ts";
import { keysQuery } from "../queries/keys.ts";
import { Choices, Field } from "../ui/Field.tsx";
import { MorePages } from "../ui/State.tsx";
import { defaultExpiry, ExpiryField, expiryOf } from "./ExpiryField.tsx";
import { NameField } from "./NameField.tsx";
import { RateLimitField, rateLimitIn } from "./RateLimitField.tsx";
import { SubmitRow } from "./SubmitRow.tsx";
import { type Faults, textOf, useSubmit } from "./submit.ts";

const accesses = [
  { value: "full", label: "Full Access", note: "all agents, including future ones" },
  { value: "granular", label: "Granular Access", note: "only the agents you choose" },
] as const;

const onDate = [{ value: "date", label: "On a date…" }];
const dayMs = 86_400_000;

type KeyFormProps = { projectId: string; onDone: (key: CreatedKey) => void };

export function KeyForm({ projectId, onDone }: KeyFormProps) {
  const queries = useQueryClient();
  const agents = useInfiniteQuery(agentsQuery(projectId));
  const [access, setAccess] = useState<KeyAccess>("full");
  const [agentIds, setAgentIds] = useState<string[]>([]);
  const [expiry, setExpiry] = useState(defaultExpiry);
  const { form, busy, faults, failure } = useSubmit<CreatedKey>({
    check: (): Faults =>
      access === "granular" && agentIds.length === 0 ? { agentIds: "Choose at least one agent." } : {},
    send: fields =>
      createKey(projectId, {
        name: textOf(fields, "name"),
        access,
        agentIds: access === "granular" ? agentIds : [],
        requestsPerMinute: rateLimitIn(fields),
        ...(expiry === "date" ? endOf(textOf(fields, "expiresAt")) : expiryOf(expiry)),
      }),
    done: async key => {
      // The key is shown only once, so not only after the list has loaded.
      onDone(key);
      await queries.invalidateQueries({ queryKey: keysQuery(projectId).queryKey });
    },
  });
  return (
    <form {...form} className="stack">
      <NameField hint="What the key is for, or where you use it: “production”, “CI”" fault={faults["name"]} />
      <Choices
        label="Access"
        name="access"
        choices={accesses}
        chosen={[access]}
        onChoose={([chosen]) => chosen && setAccess(chosen)}
        fault={faults["access"]}
      />
      {access === "granular" && (
        <div>
          <Choices
            label="Agents"
            name="agentIds"
            many
            choices={(agents.data ?? []).map(({ id, name, otlpServiceName }) => ({
              value: id,
              label: name,
              note: otlpServiceName ?? undefined,
            }))}
            chosen={agentIds}
            onChoose={setAgentIds}
            fault={faults["agentIds"]}
          />
          {agents.data?.length === 0 && <p className="quiet">This project has no agents yet.</p>}
          <MorePages query={agents} />
        </div>
      )}
      <ExpiryField
        value={expiry}
        onChange={setExpiry}
        others={onDate}
        risk="Anyone who has this key can send traces"
      />
      {expiry === "date" && <ExpiryDate fault={faults["expiresAt"]} />}
      <RateLimitField hint="If empty, the key has no limit." fault={faults["requestsPerMinute"]} />
      <SubmitRow failure={failure} busy={busy}>
        Create key
      </SubmitRow>
    </form>
  );
}

/** A date from today to a year ahead, in the viewer's time zone. */
function ExpiryDate({ fault }: { fault: string | undefined }) {
  const now = Date.now();
  return (
    <Field
      label="Last day"
      name="expiresAt"
      type="date"
      required
      min={localDate(new Date(now))}
      max={localDate(new Date(now + 364 * dayMs))}
      hint="The key expires at the end of this day. At most a year ahead."
      fault={fault}
    />
  );
}

function endOf(date: string): object {
  return { expiresAt: new Date(`${date}T23:59:59`).toISOString() };
}

function localDate(date: Date): string {
  const pad = (number: number) => String(number).padStart(2, "0");
  return `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;
}
