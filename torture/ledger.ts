// What the clients sent and what was acknowledged: all that the checker compares with what is stored.

/** A span as it was sent, by the text of its attribute. */
export type SentSpan = { spanId: string; text: string };

/** A request that was sent until it was acknowledged, or until the run ended. Times are milliseconds of one monotonic clock. */
export type Delivery = { spans: SentSpan[]; startedMs: number; acknowledgedMs: number | null };

export type Identity = {
  externalId: string;
  path: "canonical" | "otlp";
  /** Canonical: each replaces those before. OTLP: each adds spans of its own. */
  deliveries: Delivery[];
};

export class Ledger {
  readonly identities: Identity[] = [];
  acknowledgements = 0;
  races = 0;
  /** Statuses by count; 0 stands for a connection that broke. */
  readonly statuses = new Map<number, number>();
  /** What no documented answer explains. */
  readonly findings: string[] = [];

  add(identity: Identity): Identity {
    this.identities.push(identity);
    return identity;
  }

  count(status: number): void {
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
  }
}
