// Redacts the batches of one body by the rules of its project, before anything is derived from them.

import type { ReadBy } from "../model/agent/read-by.ts";
import type { StoringRules } from "../model/privacy.ts";
import type { Redaction } from "../model/redaction.ts";
import type { Attributes, Batch } from "../model/trace/trace.ts";
import type { IdNames } from "../redaction/ids.ts";
import { redactorOf } from "../redaction/of-project.ts";
import { Work, workMax } from "../redaction/work.ts";
import type { Redactor, Search } from "../redaction.ts";
import type { StoredRedactions } from "../store/traces/write.ts";
import { encodeRedactions, readRedactions } from "../wire/redactions.ts";
import type { IntakeBy } from "./intake.ts";

/** `found`: the same as in `redactions`. */
export type RedactedBatch = {
  batch: Batch;
  redactions?: StoredRedactions | undefined;
  found?: Redaction[] | undefined;
};

/** What was redacted before. */
function kept(before: StoredRedactions | undefined): Pick<RedactedBatch, "redactions" | "found"> {
  return before ? { redactions: before, found: readRedactions(before.bytes).redactions } : {};
}

/** `before`: what earlier rules redacted in the batch. */
export function redactedBy(
  redaction: BodyRedaction | null,
  batch: Batch,
  by: IntakeBy,
  before?: StoredRedactions,
): RedactedBatch {
  return redaction ? redaction.redact(batch, by, before) : { batch, ...kept(before) };
}

/** All batches of a body share what redaction may cost, and their resources, each of which is redacted once. */
export class BodyRedaction {
  readonly #redactor: Redactor;
  readonly #revision: number;
  readonly #work = new Work(workMax);
  readonly #resources = new Map<Attributes, { value: Attributes; redactions: Redaction[] }>();

  private constructor(redactor: Redactor, revision: number) {
    this.#redactor = redactor;
    this.#revision = revision;
  }

  /** Null if nothing is redacted. */
  static by(storing: StoringRules | null | undefined): BodyRedaction | null {
    const redactor = storing && redactorOf(storing);
    return redactor ? new BodyRedaction(redactor, storing.revision) : null;
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

  /** `before`: what was redacted in the batch by earlier rules. */
  redact(batch: Batch, readBy: ReadBy, before?: StoredRedactions): RedactedBatch {
    const { resource } = batch;
    const own = resource && this.#resource(resource);
    const ids = idNamesOf(readBy);
    const options = { work: this.#work, ...(ids && { ids }) };
    const { value, redactions } = this.#redactor.batch({ ...batch, resource: null }, options);
    const all = own ? [...own.redactions, ...redactions] : redactions;
    if (all.length === 0) return { batch, ...kept(before) };
    const found = before ? joined(before, all) : all;
    return {
      batch: { ...value, resource: own ? own.value : resource },
      redactions: encodeRedactions(this.#revision, found),
      found,
    };
  }

  #resource(resource: Attributes) {
    let known = this.#resources.get(resource);
    if (!known) {
      const at = { spanId: null, in: "resource" as const };
      known = this.#redactor.attributes(resource, at, { work: this.#work });
      this.#resources.set(resource, known);
      // A redacted one that comes again stays as it is, with what was found in it.
      this.#resources.set(known.value, known);
    }
    return known;
  }
}

/** Where both found something in a text, only the later places are known. */
function joined(before: StoredRedactions, later: Redaction[]): Redaction[] {
  const keyOf = ({ spanId, in: where, path }: Redaction) => JSON.stringify([spanId, where, path]);
  const changed = new Set(later.map(keyOf));
  const earlier = readRedactions(before.bytes).redactions.map(redaction =>
    changed.has(keyOf(redaction)) ? { ...redaction, places: [] } : redaction,
  );
  return [...earlier, ...later];
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
