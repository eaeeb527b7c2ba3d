// A new key: its name, which agents it may write to, and until when.
import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { KeyAccess } from "../../src/model/key.ts";
import { ask } from "../api.ts";
import { agentsQuery } from "../queries/agents.ts";
import { keysQuery } from "../queries/keys.ts";
import type { CreatedKey } from "../shapes.ts";
import { Button } from "../ui/Button.tsx";
import { Choices, Field } from "../ui/Field.tsx";
import { FailureNotice, Notice } from "../ui/Notice.tsx";
import { MorePages } from "../ui/State.tsx";
import { NameField } from "./NameField.tsx";
import { type Faults, textOf, useSubmit } from "./submit.ts";

const accesses = [
  { value: "full", label: "Every agent", note: "also those made later" },
  { value: "granular", label: "Chosen agents" },
] as const;

const expiries = [
  ...[7, 30, 60, 90, 180, 365].map(days => ({ value: String(days), label: `${days} days` })),
  { value: "date", label: "On a date" },
  { value: "never", label: "Never" },
];
const dayMs = 86_400_000;

type KeyFormProps = { projectId: string; onDone: (key: CreatedKey) => void };

export function KeyForm({ projectId, onDone }: KeyFormProps) {
  const queries = useQueryClient();
  const agents = useInfiniteQuery(agentsQuery(projectId));
  const [access, setAccess] = useState<KeyAccess>("full");
  const [agentIds, setAgentIds] = useState<string[]>([]);
  const [expiry, setExpiry] = useState("90");
  const { form, busy, faults, failure } = useSubmit<CreatedKey>({
    check: (): Faults =>
      access === "granular" && agentIds.length === 0 ? { agentIds: "Choose at least one agent." } : {},
    send: fields =>
      ask("POST", `/api/projects/${projectId}/keys`, {
        body: {
          name: textOf(fields, "name"),
          access,
          agentIds: access === "granular" ? agentIds : [],
          ...expiryOf(expiry, textOf(fields, "expiresAt")),
        },
      }),
    done: async key => {
      await queries.invalidateQueries({ queryKey: keysQuery(projectId).queryKey });
      onDone(key);
    },
  });
  return (
    <form {...form} className="stack">
      <NameField hint="What it is for, or where it is kept: “production”, “CI”." fault={faults["name"]} />
      <Choices
        label="May write to"
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
          {agents.data?.length === 0 && <p className="quiet">This project has no agent yet.</p>}
          <MorePages query={agents} />
        </div>
      )}
      <div className="field">
        <label htmlFor="key-expiry">Expires</label>
        <select
          id="key-expiry"
          className="input"
          value={expiry}
          onChange={event => setExpiry(event.target.value)}
        >
          {expiries.map(({ value, label }) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </div>
      {expiry === "date" && <ExpiryDate fault={faults["expiresAt"]} />}
      {expiry === "never" && (
        <Notice tone="warn" role="status">
          Whoever finds this key can write until it is revoked. A key with an end is safer.
        </Notice>
      )}
      <FailureNotice failure={failure} />
      <div className="line line-end">
        <Button type="submit" look="main" busy={busy}>
          Make key
        </Button>
      </div>
    </form>
  );
}

/** The end of that day, here; tomorrow to a year ahead. */
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
      hint="It works to the end of this day, at most a year ahead."
      fault={fault}
    />
  );
}

function expiryOf(expiry: string, date: string): object {
  if (expiry === "never") return { neverExpires: true };
  if (expiry === "date") return { expiresAt: new Date(`${date}T23:59:59`).toISOString() };
  return { expiresInDays: Number(expiry) };
}

function localDate(date: Date): string {
  const pad = (number: number) => String(number).padStart(2, "0");
  return `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;
}
