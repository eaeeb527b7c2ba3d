// A project with privacy rules, and traces with canaries in every field that these look at.
import { makeAgent, makeKey } from "./app.ts";
import { exportOf, newSpanId } from "./bodies.ts";
import type { TestService } from "./service.ts";

export const canary = "canary.zq7@example.com";
export const order = "ZQ-8812345";
export const said = `Write to ${canary} about ${order}.`;
export const redacted = "Write to ⟦email⟧ about ⟦order⟧.";
export const rules = { builtIn: ["*"], rules: [{ name: "order", pattern: "ZQ-\\d{7}" }] };

export type PrivateProject = {
  projectId: string;
  path: string;
  agentId: string;
  serviceName: string;
  key: string;
};

let projects = 0;

/** `settings` null: the project has no rules. */
export async function makePrivateProject(
  service: TestService,
  settings: object | null = rules,
): Promise<PrivateProject> {
  const { body } = await service.client.post("/api/projects", { name: "Private" }).expect(201);
  const path = `/api/projects/${body.id}/privacy` as const;
  if (settings) await service.client.put(path, settings).expect(200);
  const serviceName = `private-${++projects}`;
  const agent = await makeAgent(service.owner, { projectId: body.id, otlpServiceName: serviceName });
  const { key } = await makeKey({ ...service.owner, projectId: body.id });
  return { projectId: body.id, path, agentId: agent.id, serviceName, key };
}

/** With the text in every field that rules look at. */
export function canonicalTrace(agentId: string, text = said) {
  return {
    platformId: agentId,
    metadata: { note: text, deep: { list: [text, 7, true, null] } },
    spans: [
      {
        span_id: "root",
        name: "Answer",
        start_time_unix_nano: "1700000000000000000",
        end_time_unix_nano: "1700000001000000000",
        attributes: {
          "gen_ai.prompt": text,
          "gen_ai.response.text": text,
          "gen_ai.input.messages": JSON.stringify([
            { role: "user", parts: [{ type: "text", content: text }] },
          ]),
          "user.id": canary,
          nested: { list: [text] },
          size: 42,
        },
        status: { code: 2, message: text },
        events: [{ name: "exception", attributes: { "exception.message": text } }],
      },
    ],
  };
}

export function exportedTrace(project: PrivateProject, traceId: string, text = said): object {
  const string = (key: string) => ({ key, value: { stringValue: text } });
  const body = exportOf(
    [
      {
        traceId,
        spanId: newSpanId(),
        name: "Answer",
        startTimeUnixNano: "1700000000000000000",
        endTimeUnixNano: "1700000001000000000",
        attributes: [string("gen_ai.prompt"), string("gen_ai.response.text")],
        events: [{ name: "said", timeUnixNano: "1700000000000000001", attributes: [string("text")] }],
        status: { code: 2, message: text },
      },
    ],
    project.serviceName,
  );
  const [sent] = body.resourceSpans;
  sent!.resource.attributes.push(string("host.note"));
  sent!.scopeSpans[0]!.scope = { name: "sdk", attributes: [string("scope.note")] };
  return body;
}
