// Redacts the batches of one body by the rules of its project, before anything is derived from them.

import type { ReadBy } from "../model/agent/read-by.ts";
import type { StoringRules } from "../model/privacy.ts";
import { sumOf } from "../model/redaction.ts";
import type { Attributes, Batch } from "../model/trace/trace.ts";
import type { IdNames } from "../redaction/ids.ts";
import { redactorOf } from "../redaction/of-project.ts";
import { Work, workMax } from "../redaction/work.ts";
import type { Redacted, Redactor, Search } from "../redaction.ts";
import type { IntakeBy } from "./intake.ts";

/** All batches of a body share what redaction may cost, and their resources, each of which is redacted once. */
export class BodyRedaction {
  readonly #redactor: Redactor;
  readonly #work = new Work(workMax);
  readonly #resources = new Map<Attributes, Redacted<Attributes>>();

  private constructor(redactor: Redactor) {
    this.#redactor = redactor;
  }

  /** Null if nothing is redacted. */
  static by(storing: StoringRules | null | undefined): BodyRedaction | null {
    const redactor = storing && redactorOf(storing);
    return redactor ? new BodyRedaction(redactor) : null;
  }

  /**
   * Whether nothing in a request would be redacted, whichever of the agents it is for: what one of them reads as an id, it
   * takes for an id. With a budget of its own.
   */
  search(agents: readonly ReadBy[]): Search {
    const ids = idNamesOf({ conventionRules: agents.flatMap(agent => agent.conventionRules) });
    return this.#redactor.search(ids ? { ids } : {});
  }

  /** The same object for the same resource: what is stored once stays one. */
  resource(resource: Attributes): Attributes {
    return this.#resource(resource).value;
  }

  /** The same batch if nothing in it changes. What earlier rules redacted in it stays. */
  redact(batch: Batch, readBy: IntakeBy): Batch {
    const { resource, redactions: before } = batch;
    const known = new Set(Object.keys(before ?? {}));
    const ids = idNamesOf(readBy);
    const own = resource && this.#resource(resource, known);
    const options = { work: this.#work, known, ...(ids && { ids }) };
    const rest = { ...batch, resource: null };
    const { value, counts } = this.#redactor.batch(rest, options);
    const found = sumOf([own?.counts, counts]);
    if (!found && value === rest && (!own || own.value === resource)) return batch;
    const redactions = sumOf([before, found]);
    return { ...value, resource: own ? own.value : resource, ...(redactions && { redactions }) };
  }

  #resource(resource: Attributes, known?: ReadonlySet<string>): Redacted<Attributes> {
    let found = this.#resources.get(resource);
    if (!found) {
      found = this.#redactor.resource(resource, { work: this.#work, ...(known && { known }) });
      this.#resources.set(resource, found);
      // A redacted one that comes again stays as it is, with what was found in it.
      this.#resources.set(found.value, found);
    }
    return found;
  }
}

const conversationTargets = new Set(["gen_ai.conversation.id", "session.id"]);

/** The attributes that the agent's own rules read as ids. */
function idNamesOf({ conventionRules }: Pick<ReadBy, "conventionRules">): IdNames | null {
  const named = (is: (to: string) => boolean) =>
    conventionRules.flatMap(({ from, to }) => (is(to) ? [from] : []));
  const user = named(to => to === "user.id");
  const conversation = named(to => conversationTargets.has(to));
  return user.length + conversation.length > 0 ? { user, conversation } : null;
}
