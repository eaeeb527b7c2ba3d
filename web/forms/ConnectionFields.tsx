// Form fields of an agent connection, by agent type.
import { type ReactNode, useId } from "react";
import type { AgentType } from "../../src/model/agent/agent.ts";
import { Button } from "../ui/Button.tsx";
import { Choices, Field } from "../ui/Field.tsx";
import { BodyField, type ConnectionFieldsProps, Headers, ReplyFields, UrlField } from "./ConnectionParts.tsx";
import { chatCompletions, type Draft } from "./connection-draft.ts";

type Fields = (props: ConnectionFieldsProps) => ReactNode;

const fieldsOf: Record<AgentType, Fields> = {
  http_api: HttpApiFields,
  workflow: WorkflowFields,
  flow_builder: FlowBuilderFields,
};

export function ConnectionFields({ type, ...props }: ConnectionFieldsProps & { type: AgentType }) {
  const { draft, onChange, faults } = props;
  const Fields = fieldsOf[type];
  return (
    <>
      <Fields {...props} />
      <div className="connection-pair">
        <Field
          label="Wait for the trace (seconds)"
          name="waitMs"
          type="number"
          required
          min={0}
          max={120}
          step="any"
          value={draft.waitSeconds}
          onChange={({ target }) => onChange({ waitSeconds: target.value })}
          fault={faults["waitMs"]}
          hint="After each turn, at most. The run continues as soon as the trace arrives."
        />
        <Field
          label="Concurrent runs"
          name="concurrency"
          type="number"
          required
          min={1}
          max={20}
          value={draft.concurrency}
          onChange={({ target }) => onChange({ concurrency: target.value })}
          fault={faults["concurrency"]}
        />
      </div>
    </>
  );
}

const methods = ["POST", "PUT", "PATCH"] as const;

function HttpApiFields({ draft, onChange, faults }: ConnectionFieldsProps) {
  const methodId = useId();
  return (
    <>
      <div className="connection-url">
        <div className="field">
          <label htmlFor={methodId}>Method</label>
          <select
            id={methodId}
            className="input"
            value={draft.method}
            onChange={({ target }) => onChange({ method: target.value as Draft["method"] })}
          >
            {methods.map(method => (
              <option key={method}>{method}</option>
            ))}
          </select>
        </div>
        <UrlField label="URL" draft={draft} onChange={onChange} faults={faults} />
      </div>
      <Headers
        draft={draft}
        onChange={onChange}
        faults={faults}
        hint="Sent with every request, in addition to x-request-id and traceparent."
      />
      <BodyField draft={draft} onChange={onChange} faults={faults} />
      <div>
        <Button look="link" onClick={() => onChange(chatCompletions)}>
          Use the chat completions format
        </Button>
      </div>
      <ReplyFields draft={draft} onChange={onChange} faults={faults} kinds={["json", "text", "trace"]} />
    </>
  );
}

const kinds = [
  { value: "chat", label: "Chat trigger" },
  { value: "webhook", label: "Webhook" },
] as const;

function WorkflowFields({ draft, onChange, faults }: ConnectionFieldsProps) {
  const isChat = draft.kind === "chat";
  return (
    <>
      <Choices
        label="Started by"
        name="kind"
        choices={kinds}
        chosen={[draft.kind]}
        onChoose={([kind]) => kind && onChange({ kind })}
        fault={faults["kind"]}
      />
      <UrlField
        label={isChat ? "Chat URL" : "Webhook URL"}
        draft={draft}
        onChange={onChange}
        faults={faults}
        hint={
          isChat
            ? "The trigger’s production URL. Onlooker sends action, sessionId and chatInput."
            : "The production URL. The webhook must respond when the last node finishes, or with a “Respond to Webhook” node."
        }
      />
      <Headers
        draft={draft}
        onChange={onChange}
        faults={faults}
        hint="Headers that the trigger’s authentication needs, such as Authorization."
      />
      {!isChat && (
        <>
          <BodyField draft={draft} onChange={onChange} faults={faults} />
          <ReplyFields
            draft={draft}
            onChange={onChange}
            faults={faults}
            kinds={["auto", "json", "text", "trace"]}
          />
        </>
      )}
    </>
  );
}

const products = [
  { value: "flowise", label: "Flowise" },
  { value: "langflow", label: "Langflow" },
] as const;

const ofProduct = {
  flowise: { port: 3000, path: "/api/v1/prediction/", key: "Authorization: Bearer …" },
  langflow: { port: 7860, path: "/api/v1/run/", key: "x-api-key" },
};

function FlowBuilderFields({ draft, onChange, faults }: ConnectionFieldsProps) {
  const { port, path, key } = ofProduct[draft.product];
  return (
    <>
      <Choices
        label="Product"
        name="product"
        choices={products}
        chosen={[draft.product]}
        onChoose={([product]) => product && onChange({ product })}
        fault={faults["product"]}
      />
      <Field
        label="Server"
        name="baseUrl"
        inputMode="url"
        placeholder={`https://flows.example.com or http://localhost:${port}`}
        value={draft.baseUrl}
        onChange={({ target }) => onChange({ baseUrl: target.value })}
        fault={faults["baseUrl"]}
        hint={
          <>
            Only the server’s URL; <code>{path}</code> and the flow ID are added.
          </>
        }
        autoComplete="off"
        spellCheck={false}
      />
      <Field
        label="Flow ID"
        name="flowId"
        value={draft.flowId}
        onChange={({ target }) => onChange({ flowId: target.value })}
        fault={faults["flowId"]}
        autoComplete="off"
        spellCheck={false}
      />
      <Headers
        draft={draft}
        onChange={onChange}
        faults={faults}
        hint={`If the flow is protected, add its API key: ${key}`}
      />
      {draft.product === "flowise" && (
        <label className="choice">
          <input
            type="checkbox"
            checked={draft.sendHistory}
            onChange={({ target }) => onChange({ sendHistory: target.checked })}
          />
          <span>
            Send the earlier messages too
            <span className="quiet small"> — for flows without memory</span>
          </span>
        </label>
      )}
    </>
  );
}
