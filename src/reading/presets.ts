// All conventions, and which of them recognizes a span.
import type { Span } from "../model/trace/trace.ts";
import { ag2 } from "./presets/ag2.ts";
import { agentFramework } from "./presets/agent-framework.ts";
import { agentOps } from "./presets/agentops.ts";
import { claudeCode } from "./presets/claude-code.ts";
import { genkit } from "./presets/genkit.ts";
import { googleAdk } from "./presets/google-adk.ts";
import { haystack } from "./presets/haystack.ts";
import { judgeval } from "./presets/judgeval.ts";
import { laminar } from "./presets/laminar.ts";
import { langfuse } from "./presets/langfuse.ts";
import { langSmith } from "./presets/langsmith.ts";
import { langWatch } from "./presets/langwatch.ts";
import { liteLlm } from "./presets/litellm.ts";
import { liveKit } from "./presets/livekit.ts";
import { llamaIndex } from "./presets/llamaindex.ts";
import { logfire } from "./presets/logfire.ts";
import { mastra } from "./presets/mastra.ts";
import { mlflow } from "./presets/mlflow.ts";
import { n8n } from "./presets/n8n.ts";
import { openInference } from "./presets/openinference.ts";
import { openLit } from "./presets/openlit.ts";
import { openLlmetry } from "./presets/openllmetry.ts";
import { openTelemetry } from "./presets/opentelemetry.ts";
import { pipecat } from "./presets/pipecat.ts";
import { pydanticAi } from "./presets/pydantic-ai.ts";
import { springAi } from "./presets/spring-ai.ts";
import { strands } from "./presets/strands.ts";
import { traceAi } from "./presets/traceai.ts";
import { vercelAi } from "./presets/vercel-ai.ts";
import { voltAgent } from "./presets/voltagent.ts";
import type { Preset } from "./span/reading.ts";

/** The more specific first: the first that recognizes a span reads it. */
export const presets: readonly Preset[] = [
  langfuse,
  langSmith,
  langWatch,
  laminar,
  mlflow,
  mastra,
  voltAgent,
  genkit,
  springAi,
  googleAdk,
  strands,
  openLit,
  pydanticAi,
  vercelAi,
  liveKit,
  pipecat,
  ag2,
  haystack,
  llamaIndex,
  claudeCode,
  judgeval,
  agentOps,
  traceAi,
  openInference,
  liteLlm,
  openLlmetry,
  agentFramework,
  logfire,
  n8n,
  openTelemetry,
];

/** Returns the preset that recognizes a span, if any of `chosen` does. One pass over the attributes, whatever is chosen. */
export function recognizer(chosen: readonly Preset[]): (span: Span) => Preset | null {
  const byKey = new Map<string, number>();
  const byPrefix: [string, number][] = [];
  const byScope = new Map<string, number>();
  for (const [rank, { marks }] of chosen.entries()) {
    for (const mark of marks) {
      if (mark.endsWith(".")) byPrefix.push([mark, rank]);
      else if (!byKey.has(mark)) byKey.set(mark, rank);
    }
  }
  const rankOfScope = (scope: string) => {
    const known = byScope.get(scope);
    if (known !== undefined) return known;
    const found = chosen.findIndex(preset => preset.scope?.test(scope));
    const rank = found === -1 ? chosen.length : found;
    if (byScope.size < scopesMax) byScope.set(scope, rank);
    return rank;
  };
  const ofRecords = chosen.includes(openTelemetry) ? openTelemetry : null;
  const known = new Map<string, number>();
  const rankOfKey = (key: string) => {
    const found = known.get(key);
    if (found !== undefined) return found;
    let rank = byKey.get(key) ?? chosen.length;
    for (const [prefix, other] of byPrefix) if (other < rank && key.startsWith(prefix)) rank = other;
    if (known.size < keysMax && key.length <= keyLengthMax) known.set(key, rank);
    return rank;
  };
  return span => {
    let best = span.scope?.name ? rankOfScope(span.scope.name) : chosen.length;
    for (const key in span.attributes) {
      const rank = rankOfKey(key);
      if (rank < best) best = rank;
    }
    return chosen[best] ?? (span.log_records ? ofRecords : null);
  };
}

/** Whether a convention recognizes spans by an attribute with this key, or by a scope of this name. */
export function isSignOfConvention(key: string): boolean {
  return presets.some(preset => marksKey(preset, key));
}

/** The same of one that has names of its own: what OpenTelemetry's reads is in `columnAttributes`. */
export function isSignOfOwnNames(key: string): boolean {
  return presets.some(preset => preset !== openTelemetry && marksKey(preset, key));
}

function marksKey({ marks }: Preset, key: string): boolean {
  return marks.some(mark => (mark.endsWith(".") ? key.startsWith(mark) : key === mark));
}

export function isScopeOfConvention(scope: string): boolean {
  return presets.some(preset => preset.scope?.test(scope));
}

/** Scopes and keys to remember: a client may send any number of names. */
const scopesMax = 1_000;
const keysMax = 2_000;
const keyLengthMax = 100;
