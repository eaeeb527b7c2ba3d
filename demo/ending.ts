// Prints what to do next: how to send a trace, where the service is, how to sign in, where its data is, how to stop.
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
${bold("Send your own trace")} to the tests of ${shop.name}:

curl ${url}/public/traces \\
  -H 'content-type: application/json' -H 'x-api-key: ${apiKey}' \\
  -d '{"platformId": "${shop.id}", "spans": [
${exampleSpans()}]}'
${launched === 0 ? "" : runs(shop.name, launched)}
Onlooker is ready at ${url}
Sign in as ${email} with the password ${password}
Its data is in ${dataDir}
Press Ctrl-C to stop it; its data stays, and the next start adds new traces`);
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
