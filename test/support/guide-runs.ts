// Runs the guides of Get started: the settings that a user copies, and what the trace must have once its convention is read.
import assert from "node:assert/strict";
import { exporterVariables, type Guide, ownVariables } from "../../web/pages/start/guides/guide.ts";
import { makeAgent } from "./app.ts";
import { eventually } from "./eventually.ts";
import { weather } from "./model-server.ts";
import type { TestService } from "./service.ts";

/** An agent that reads the guide's convention, and the environment variables of its page. */
export async function guideSettings(
  service: TestService,
  guide: Guide,
): Promise<{ agentId: string; variables: Record<string, string> }> {
  const { id, convention } = guide;
  const serviceName = `${id}-${crypto.randomUUID()}`;
  const agent = await makeAgent(service.owner, { otlpServiceName: serviceName });
  const conventions = convention === null ? [] : [convention];
  await service.client.patch(`/api/agents/${agent.id}`, { conventions }).expect(200);
  const target = { origin: service.url, key: service.key, serviceName };
  return { agentId: agent.id, variables: { ...exporterVariables(target), ...ownVariables(guide, target) } };
}

/** Everything of one trace. Conversation and user are those that the guide's own lines set. */
export async function assertReadWeather(
  service: TestService,
  agentId: string,
  guide: Guide,
  output: { stdout: string; stderr: string },
): Promise<void> {
  assert.ok(output.stdout.includes(weather.reply), `${output.stdout}${output.stderr}`);
  await eventually(async () => {
    const list = await service.client.read(`/api/agents/${agentId}/traces`);
    assert.equal(list.items.length, 1, output.stderr);
    const body = await service.client.read(`/api/traces/${list.items[0]!.id}`);
    const { userInput, responseText, toolCalls, tokens, model, conversationId, userId } = body;
    const { name, result, arguments: args } = toolCalls[0] ?? {};
    assert.deepEqual(
      { userInput, responseText, tool: { name, arguments: args, result: plain(result) } },
      { userInput: weather.question, responseText: weather.reply, tool: weather.tool },
    );
    const { input, output: given, total } = tokens;
    const none = { input: null, output: null, total: null };
    assert.deepEqual({ input, output: given, total }, guide.missing === "tokens" ? none : weather.tokens);
    assert.match(model!, /^gpt-/);
    const isNamed = (value: string) => guide.example!.includes(value);
    const ids = ["conversation-1", "user-1"].map(value => (isNamed(value) ? value : null));
    assert.deepEqual([conversationId, userId], ids);
  });
}

/** Documented attributes are shown as they were sent; the AI SDK sends JSON. */
function plain(result: unknown): unknown {
  return typeof result === "string" && result.startsWith('"') ? JSON.parse(result) : result;
}
