// Writes the messages of alerts: the JSON that webhooks get and emails are written from.
import type { AlertedAgent, AlertMessage, ChangedTest, Digest } from "./alert.ts";

export function changedMessage(baseUrl: string, digest: Digest, now: Date): AlertMessage {
  const { agent, failingTests, changedTests, tests } = digest;
  const about = aboutAgent(baseUrl, agent);
  const agentUrl = urlOf(baseUrl, agent);
  return {
    type: "test_states.changed",
    timestamp: now.toISOString(),
    data: { ...about, failingTests, changedTests, tests: tests.map(test => testOf(agentUrl, test)) },
  };
}

export function testMessage(baseUrl: string, agent: AlertedAgent, now: Date): AlertMessage {
  return { type: "test", timestamp: now.toISOString(), data: aboutAgent(baseUrl, agent) };
}

function aboutAgent(baseUrl: string, agent: AlertedAgent) {
  const { id, name, projectId, projectName } = agent;
  return {
    project: { id: projectId, name: projectName },
    agent: { id, name, url: `${urlOf(baseUrl, agent)}/tests` },
  };
}

function testOf(agentUrl: string, { firstTraceId, since, passed, failed, ...test }: ChangedTest) {
  const { id, name, state, changes } = test;
  return {
    id,
    name,
    state,
    since: since?.toISOString() ?? null,
    changes,
    last24Hours: { passed, failed },
    url: `${agentUrl}/tests/${id}/results`,
    firstTraceUrl: firstTraceId && `${agentUrl}/traces/${firstTraceId}`,
  };
}

function urlOf(baseUrl: string, { id, projectId }: AlertedAgent): string {
  return `${baseUrl}/projects/${projectId}/agents/${id}`;
}
