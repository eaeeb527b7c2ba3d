// One-line form that sets the service name of an agent that has none.
import { useQueryClient } from "@tanstack/react-query";
import type { Agent } from "../../src/model/agent/agent.ts";
import { Button } from "../ui/Button.tsx";
import { Field } from "../ui/Field.tsx";
import { FailureNotice } from "../ui/Notice.tsx";
import { setServiceName } from "./service-name.ts";
import { textOf, useSubmit } from "./submit.ts";

export function ServiceNameForm({ agent }: { agent: Agent }) {
  const queries = useQueryClient();
  const { form, busy, faults, failure } = useSubmit<Agent>({
    send: fields => setServiceName(queries, agent, textOf(fields, "otlpServiceName")),
    fieldOf: ({ code }) => (code === "CONFLICT" ? "otlpServiceName" : undefined),
    done: () => {},
  });
  return (
    <form {...form} className="stack-tight">
      <Field
        label="OTLP service name"
        name="otlpServiceName"
        required
        maxLength={255}
        defaultValue={slugOf(agent.name)}
        hint="The service name that your OpenTelemetry exporter will send. Traces in plain JSON, as with curl, do not need one."
        fault={faults["otlpServiceName"]}
        autoComplete="off"
        spellCheck={false}
      />
      <FailureNotice failure={failure} />
      <div>
        <Button type="submit" busy={busy}>
          Save service name
        </Button>
      </div>
    </form>
  );
}

/** A typical service name: "Shop assistant" becomes "shop-assistant". */
function slugOf(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^-|-$/g, "");
}
