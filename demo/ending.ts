// Prints what to do next: the URL, the login, where the data is, how to send a trace, how to stop.
import type { DemoProject } from "./project.ts";
import { bold } from "./terminal.ts";

/** `launched`: the number of tests of the shop that are running. */
export function printEnding(
  { url, dataDir }: { url: string; dataDir: string },
  { agents, apiKey, email, password }: DemoProject,
  launched: number,
): void {
  const shop = agents.find(agent => agent.otlpServiceName !== null)!;
  console.log(`
${bold("Onlooker is running")}
  URL       ${url}
  email     ${email}
  password  ${password}
  data      ${dataDir}
${launched === 0 ? "" : runs(shop.name, launched)}
${bold("Send your own trace")} as plain JSON, to be evaluated by the tests of ${shop.name}:

curl ${url}/public/traces \\
  -H 'content-type: application/json' -H 'x-api-key: ${apiKey}' \\
  -d '{"platformId": "${shop.id}", "spans": [
${exampleSpans()}]}'

Or configure any OpenTelemetry exporter:

export OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=${url}/public/traces
export OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http/protobuf
export OTEL_EXPORTER_OTLP_TRACES_HEADERS=x-api-key=${apiKey}
export OTEL_SERVICE_NAME=${shop.otlpServiceName}

Press Ctrl-C to stop. The demo's data is kept; the next start adds new traces.`);
}

function runs(name: string, count: number): string {
  return `
Also running ${count} tests of ${name} against an assistant on this machine: see Runs.
`;
}

/** Two spans: short enough to read, complete enough to evaluate. */
function exampleSpans(): string {
  const endMs = Date.now();
  return `  {"span_id": "1", "name": "POST /chat", "attributes": {"http.response.status_code": 200},
   "start_time_unix_nano": "${endMs - 900}000000", "end_time_unix_nano": "${endMs}000000"},
  {"span_id": "2", "parent_span_id": "1", "name": "Compose the answer", "attributes": {
   "gen_ai.request.model": "mistral-small-latest",
   "gen_ai.prompt": "Are you open on Sunday?",
   "gen_ai.response.text": "We are, from ten to four.",
   "gen_ai.usage.input_tokens": 420, "gen_ai.usage.output_tokens": 8}}`;
}
