// The service name of an agent that has none yet, in one line.
import { useQueryClient } from "@tanstack/react-query";
import type { Agent } from "../../src/model/agent/agent.ts";
import { Button } from "../ui/Button.tsx";
import { Field } from "../ui/Field.tsx";
import { FailureNotice } from "../ui/Notice.tsx";
import { giveServiceName } from "./service-name.ts";
import { textOf, useSubmit } from "./submit.ts";

export function ServiceNameForm({ agent }: { agent: Agent }) {
  const queries = useQueryClient();
  const { form, busy, faults, failure } = useSubmit<Agent>({
    send: fields => giveServiceName(queries, agent, textOf(fields, "otlpServiceName")),
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
        hint="What your OpenTelemetry exporter will call itself. Plain JSON, as by curl, needs none."
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

/** "Shop assistant" as services are commonly called: "shop-assistant". */
function slugOf(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^-|-$/g, "");
}
