// Section of the agent settings: which attributes are stored, by lists of keys to drop and to keep.
import { useQueryClient } from "@tanstack/react-query";
import { useId } from "react";
import type { Agent } from "../../src/http/projects/schemas.ts";
import { updateAgent } from "../mutations/agents.ts";
import { agentQuery } from "../queries/agents.ts";
import { readNow } from "../queries/client.ts";
import { Choices, Fault } from "../ui/Field.tsx";
import { Notice } from "../ui/Notice.tsx";
import { toast } from "../ui/Toast.tsx";
import { SubmitRow } from "./SubmitRow.tsx";
import { type Faults, useSubmit } from "./submit.ts";
import { useDraft } from "./use-draft.ts";

type Mode = "all" | "deny" | "allow";
type Draft = { mode: Mode; toDrop: string; toKeep: string };

const drafting = {
  toDraft: ({ deny, allow }: Agent["attributes"]): Draft => ({
    mode: allow ? "allow" : deny.length > 0 ? "deny" : "all",
    toDrop: deny.join("\n"),
    toKeep: allow?.join("\n") ?? "",
  }),
  /** The mode is not sent: without keys, it tells drafts apart that send the same. */
  fromDraft: ({ mode, toDrop, toKeep }: Draft) => ({
    mode,
    attributes: {
      deny: mode === "all" ? [] : keysIn(toDrop),
      allow: mode === "allow" ? keysIn(toKeep) : null,
    },
  }),
};

const keysMax = 100;
const keyMax = 200;

export function AttributesSection({ agent }: { agent: Agent }) {
  const queries = useQueryClient();
  const query = agentQuery(agent.id);
  const { draft, change, ...drafted } = useDraft(
    agent.attributes,
    drafting,
    async () => (await readNow(queries, query)).attributes,
  );
  const { mode, toDrop, toKeep } = draft;
  const [dropped, kept] = [keysIn(toDrop), keysIn(toKeep)];
  const { form, faults, ...row } = useSubmit<Agent>({
    draft: drafted,
    check: () => ({
      ...(mode === "deny" && dropped.length === 0 && { deny: "Enter at least one key." }),
      ...(mode !== "all" && faultOf("deny", dropped)),
      ...(mode === "allow" && faultOf("allow", kept)),
    }),
    send: () => updateAgent(agent.id, { attributes: drafting.fromDraft(draft).attributes }),
    done: changed => {
      drafted.settle(draft, changed.attributes);
      queries.setQueryData(query.queryKey, changed);
      toast("Attribute settings saved");
    },
  });
  return (
    <section className="card stack" aria-labelledby="attributes" id="attribute-settings">
      <div className="stack-tight">
        <h2 id="attributes">Attributes</h2>
        <p className="quiet">
          Which attributes of spans, events, links, resources, scopes and log records are stored, and which
          first keys of metadata. <code>service.name</code> is always stored. Dropped attributes are not there
          for checks either. A change counts for traces that arrive from now on.
        </p>
      </div>
      <form {...form} className="stack" aria-label="Attributes">
        <Choices
          name="attributes"
          label="Attributes of traces"
          choices={[
            { value: "all", label: "Store all attributes" },
            { value: "deny", label: "Drop these" },
            { value: "allow", label: "Keep only these" },
          ]}
          chosen={[mode]}
          onChoose={([chosen]) => change({ mode: chosen! })}
          fault={faults["attributes"]}
        />
        {mode === "allow" && (
          <Keys
            name="allow"
            label="Keys to keep"
            placeholder={"gen_ai.*\nhttp.response.status_code"}
            value={toKeep}
            fault={faults["allow"]}
            onChange={text => change({ toKeep: text })}
          />
        )}
        {mode === "allow" && kept.length === 0 && (
          <Notice tone="warn">Without a key, no attribute except service.name is stored.</Notice>
        )}
        {mode !== "all" && (
          <Keys
            name="deny"
            label={mode === "allow" ? "Of these, drop (optional)" : "Keys to drop"}
            placeholder={"app.customer.*\ndb.query.text"}
            value={toDrop}
            fault={faults["deny"]}
            onChange={text => change({ toDrop: text })}
          />
        )}
        <SubmitRow {...row}>Save attribute settings</SubmitRow>
      </form>
    </section>
  );
}

type KeysProps = {
  name: string;
  label: string;
  placeholder: string;
  value: string;
  fault: string | undefined;
  onChange: (text: string) => void;
};

function Keys({ name, label, placeholder, value, fault, onChange }: KeysProps) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <textarea
        id={id}
        name={name}
        className="input mono"
        rows={4}
        value={value}
        placeholder={placeholder}
        spellCheck={false}
        aria-invalid={fault ? true : undefined}
        aria-describedby={fault ? `${id}-fault ${id}-hint` : `${id}-hint`}
        onChange={({ target }) => onChange(target.value)}
      />
      <Fault id={`${id}-fault`} fault={fault} />
      <div id={`${id}-hint`} className="field-hint">
        One key per line. A <code>*</code> at the end stands for all keys that begin like it.
      </div>
    </div>
  );
}

/** One a line, each once. */
function keysIn(text: string): string[] {
  return [...new Set(text.split("\n").flatMap(line => line.trim() || []))];
}

function faultOf(name: "deny" | "allow", keys: string[]): Faults {
  const starred = keys.find(key => key.slice(0, -1).includes("*"));
  if (starred !== undefined) return { [name]: `“${shortKey(starred)}”: * is allowed only at the end.` };
  const long = keys.find(key => key.length > keyMax);
  if (long !== undefined) return { [name]: `“${shortKey(long)}” has more than ${keyMax} characters.` };
  return keys.length > keysMax ? { [name]: `At most ${keysMax} keys; these are ${keys.length}.` } : {};
}

const shortKey = (key: string) => (key.length > 40 ? `${key.slice(0, 39)}…` : key);
