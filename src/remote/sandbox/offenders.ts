// Remembers the schemas and patterns of an agent that keep timing out, so that they are not tried again.

/** One with this many timeouts in a row is not tried again until others have pushed it out of memory. */
const timeoutsMax = 3;
const agentsMax = 200;
const perAgentMax = 50;

export class Offenders {
  /** By agent, because a schema that is slow on the values of one may serve others. */
  readonly #timeouts = new Map<string, Map<string, number>>();

  has(agentId: string, text: string): boolean {
    return (this.#timeouts.get(agentId)?.get(text) ?? 0) >= timeoutsMax;
  }

  blame(agentId: string, text: string): void {
    const ofAgent = this.#timeouts.get(agentId) ?? new Map<string, number>();
    const timeouts = (ofAgent.get(text) ?? 0) + 1;
    ofAgent.delete(text);
    ofAgent.set(text, timeouts);
    if (ofAgent.size > perAgentMax) ofAgent.delete(ofAgent.keys().next().value!);
    this.#timeouts.delete(agentId);
    this.#timeouts.set(agentId, ofAgent);
    if (this.#timeouts.size > agentsMax) this.#timeouts.delete(this.#timeouts.keys().next().value!);
  }

  /** After an answer in time. */
  forgive(agentId: string, text: string): void {
    this.#timeouts.get(agentId)?.delete(text);
  }
}
