// What the agents that a request may name have settled about what is stored.
import type { AgentConventions } from "../model/agent/agent.ts";
import type { StoringRules } from "../model/privacy.ts";

/**
 * The agents that the request may name and that have rules, conventions or settings of what is stored. `only`: the only agent
 * that the key may write to. `storing`: what their project redacts, if anything.
 */
export type Readers = { agents: AgentConventions[]; only: string | null; storing?: StoringRules | null };
