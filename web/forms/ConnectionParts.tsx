// Form fields shared by several connection types: URL, headers, body and reply text.
import { useId } from "react";
import { Choices, Fault, Field } from "../ui/Field.tsx";
import type { Draft } from "./connection-draft.ts";
import { HeaderFields } from "./HeaderFields.tsx";
import type { Faults } from "./submit.ts";

export type ConnectionFieldsProps = {
  draft: Draft;
  onChange: (change: Partial<Draft>) => void;
  faults: Faults;
};

export function UrlField({
  label,
  hint,
  draft,
  onChange,
  faults,
}: ConnectionFieldsProps & { label: string; hint?: string }) {
  return (
    <Field
      label={label}
      name="url"
      inputMode="url"
      placeholder="https://"
      value={draft.url}
      onChange={({ target }) => onChange({ url: target.value })}
      fault={faults["url"]}
      hint={hint}
      autoComplete="off"
      spellCheck={false}
    />
  );
}

export function Headers({ draft, onChange, faults, hint }: ConnectionFieldsProps & { hint: string }) {
  return (
    <HeaderFields
      headers={draft.headers}
      onChange={headers => onChange({ headers })}
      faults={faults}
      hint={hint}
    />
  );
}

export function BodyField({ draft, onChange, faults }: ConnectionFieldsProps) {
  const id = useId();
  const fault = faults["bodyTemplate"];
  return (
    <div className="field">
      <label htmlFor={id}>Body</label>
      <textarea
        id={id}
        name="bodyTemplate"
        className="input mono"
        rows={Math.min(20, Math.max(4, draft.bodyTemplate.split("\n").length))}
        value={draft.bodyTemplate}
        onChange={({ target }) => onChange({ bodyTemplate: target.value })}
        aria-invalid={fault ? true : undefined}
        aria-describedby={fault ? `${id}-fault ${id}-hint` : `${id}-hint`}
        spellCheck={false}
      />
      <Fault id={`${id}-fault`} fault={fault} />
      <div id={`${id}-hint`} className="field-hint">
        JSON. Inside strings, use <code>{"{{input}}"}</code>, <code>{"{{conversation_id}}"}</code> and{" "}
        <code>{"{{request_id}}"}</code>. As a whole value, use <code>{'"{{history}}"'}</code> (the earlier
        messages) or <code>{'"{{messages}}"'}</code> (the earlier messages and the input).
      </div>
    </div>
  );
}

const replyKinds: Record<Draft["replyKind"], { label: string; note?: string }> = {
  auto: { label: "Detect automatically", note: "output, text or a similar field of the first item" },
  json: { label: "JSON pointer" },
  text: { label: "Entire response as plain text" },
  trace: { label: "In the trace", note: "for agents that answer 202 or “started” and reply later" },
};

type ReplyFieldsProps = ConnectionFieldsProps & { kinds: Draft["replyKind"][] };

export function ReplyFields({ draft, onChange, faults, kinds }: ReplyFieldsProps) {
  return (
    <>
      <Choices
        label="Reply text"
        name="reply"
        choices={kinds.map(value => ({ value, ...replyKinds[value] }))}
        chosen={[draft.replyKind]}
        onChoose={([replyKind]) => replyKind && onChange({ replyKind })}
        fault={faults["reply"]}
      />
      {draft.replyKind === "json" && (
        <Field
          label="Pointer"
          name="reply.pointer"
          value={draft.pointer}
          onChange={({ target }) => onChange({ pointer: target.value })}
          fault={faults["reply.pointer"]}
          hint="Such as /choices/0/message/content. In an event stream, the pointer is applied to each event and the texts are joined."
          autoComplete="off"
          spellCheck={false}
        />
      )}
    </>
  );
}
