// What the clients sent and what was acknowledged: all that the checker compares with what is stored.

/** A span as it was sent, by the text of its attribute. */
export type SentSpan = { spanId: string; text: string };

/**
 * A request that was sent until it was acknowledged, or until the run ended. Times are milliseconds of one monotonic clock.
 * The same spans delivered again are the same array.
 */
export type Delivery = { spans: SentSpan[]; startedMs: number; acknowledgedMs: number | null };

export type Identity = {
  externalId: string;
  path: "canonical" | "otlp";
  /** Canonical: each replaces those before. OTLP: each adds spans. */
  deliveries: Delivery[];
  /** Requests that were answered 201, and those of which nobody knows what they did. */
  created: number;
  unknown: number;
};

export class Ledger {
  readonly identities: Identity[] = [];
  acknowledgements = 0;
  races = 0;
  /** Statuses by count; 0 stands for a connection that broke. */
  readonly statuses = new Map<number, number>();
  /** What no documented answer explains. */
  readonly findings: string[] = [];

  add(externalId: string, path: Identity["path"]): Identity {
    const identity: Identity = { externalId, path, deliveries: [], created: 0, unknown: 0 };
    this.identities.push(identity);
    return identity;
  }

  count(status: number): void {
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
  }
}
