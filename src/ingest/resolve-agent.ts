// Resolves the agent of a trace: by platform hint for canonical traces, by service.name for OTLP.
import type { Agent } from "../model/agent/agent.ts";
import { type AdmittedKey, allowsAgent } from "../model/key.ts";
import { Refusal } from "../model/refusal.ts";
import type { PlatformHint } from "../wire/body.ts";

export type FindAgents = {
  /** Undefined if no agent has this id. */
  findAgent: (id: string) => Promise<Agent | undefined>;
  findAgentByServiceName: (projectId: string, serviceName: string) => Promise<Agent | undefined>;
  /** Some agents that the key may write to, for the hint of a refusal. */
  listAgentsOfKey: (key: AdmittedKey) => Promise<Agent[]>;
};

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** The agent of the project that a refused request names, if it names one. */
export async function namedAgent(
  { findAgent }: FindAgents,
  { projectId }: AdmittedKey,
  { agentId }: Refusal,
): Promise<string | null> {
  if (agentId === undefined || !uuid.test(agentId)) return null;
  // The answer is the same without the log, such as while the database is down.
  const agent = await findAgent(agentId.toLowerCase()).catch(() => undefined);
  return agent?.projectId === projectId ? agent.id : null;
}

/** The agent's id, or the Refusal CUSTOM_API_PLATFORM_NOT_FOUND. */
export async function agentOfHint(
  deps: FindAgents,
  key: AdmittedKey,
  hint: PlatformHint | null,
): Promise<string> {
  const id = typeof hint?.value === "string" && uuid.test(hint.value) ? hint.value.toLowerCase() : undefined;
  const [onlyAgent] = key.access === "granular" && key.agentIds.length === 1 ? key.agentIds : [];
  if (onlyAgent) {
    if (id === undefined || id === onlyAgent) return onlyAgent;
    throw await platformNotFound(
      deps,
      key,
      "This key may not write to the agent that the request names.",
      id,
    );
  }
  if (!hint) {
    throw await platformNotFound(
      deps,
      key,
      "The request names no agent, and this key is not limited to one agent.",
    );
  }
  if (id === undefined) {
    throw await platformNotFound(deps, key, `The field ${hint.field} is not an agent's id.`);
  }
  const agent = await deps.findAgent(id);
  if (agent?.projectId !== key.projectId || !allowsAgent(key, id)) {
    throw await platformNotFound(
      deps,
      key,
      `This key has access to no agent with the id in ${hint.field}.`,
      id,
    );
  }
  return agent.id;
}

/** The agent's id, or the Refusal OTLP_PLATFORM_NOT_FOUND or OTLP_PLATFORM_NOT_ALLOWED. */
export async function agentOfGroup(deps: FindAgents, key: AdmittedKey, serviceName: string): Promise<string> {
  const agent = await deps.findAgentByServiceName(key.projectId, serviceName);
  if (!agent) {
    throw new Refusal("OTLP_PLATFORM_NOT_FOUND", {
      hint: serviceName.startsWith("unknown_service")
        ? "The exporter sends its default name: set OTEL_SERVICE_NAME to the agent's OTLP service name."
        : "Set OTEL_SERVICE_NAME to an agent's OTLP service name, in the same upper and lower case.",
    });
  }
  if (!allowsAgent(key, agent.id)) {
    throw new Refusal("OTLP_PLATFORM_NOT_ALLOWED", {
      hint: "Use a key with access to this agent, or another service name.",
      agentId: agent.id,
    });
  }
  return agent.id;
}

async function platformNotFound(
  deps: FindAgents,
  key: AdmittedKey,
  message: string,
  agentId?: string,
): Promise<Refusal> {
  const agents = await deps.listAgentsOfKey(key);
  const ids = agents.map(agent => agent.id).join(", ");
  return new Refusal("CUSTOM_API_PLATFORM_NOT_FOUND", {
    message,
    agentId,
    hint: ids
      ? `Send platformId with the id of an agent that this key may write to: ${ids}.`
      : hintsWithoutAgents[key.access],
  });
}

/** What to do if a key has access to no agent. A granular key has lost its agents, and its access never changes. */
const hintsWithoutAgents = {
  full: "Create an agent first, then send its id as platformId.",
  granular:
    "The agents of this key were deleted. Create a key for another agent, and send that agent's id as platformId.",
};
