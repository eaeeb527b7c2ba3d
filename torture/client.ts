// A client: sends new traces, alone or several in a request, other versions of them, and races between nodes; everything one to
// five times, each until it is acknowledged.
import { setTimeout as delay } from "node:timers/promises";
import type { Random } from "../fuzz/random.ts";
import { canonicalBody, canonicalSpan, encodings, exportedSpan, exportOf } from "../test/support/bodies.ts";
import type { Delivery, Identity, Ledger, SentSpan } from "./ledger.ts";
import type { Node } from "./node.ts";
import { type Request, type RequestPoint, send, sendUpTo } from "./requests.ts";

export type ClientOptions = {
  nodes: Node[];
  ledger: Ledger;
  random: Random;
  agentId: string;
  serviceName: string;
  key: string;
};

const retryMs = 100;
const timesMax = 5;
const ownMax = 100;
/** Traces in a request, as exporters send them, and races at once. */
const togetherMax = 24;
const racesMax = 12;

/** What one request delivers: some spans of each of these traces. */
type Part = { identity: Identity; spans: SentSpan[] };

export class Client {
  readonly #options: ClientOptions;
  /** Canonical traces that get further versions. */
  readonly #own: Identity[] = [];
  readonly #aborting = new AbortController();
  /** What was interrupted is delivered in the background. */
  readonly #interrupted: Promise<void>[] = [];

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  async run(): Promise<void> {
    while (!this.#isStopping) await this.#act();
  }

  /** Requests that are not acknowledged by then never are. */
  async stop(): Promise<void> {
    this.#aborting.abort();
    await Promise.all(this.#interrupted);
  }

  get #isStopping(): boolean {
    return this.#aborting.signal.aborted;
  }

  #act(): Promise<void> {
    const { random } = this.#options;
    const kind = random.below(10);
    if (kind < 2 && this.#running().length > 1) return this.#race();
    if (kind < 5) return this.#deliverTogether();
    const path = kind < 8 ? "canonical" : "otlp";
    const isNew = path === "otlp" || this.#own.length === 0 || random.chance(0.5);
    const identity = isNew ? this.#new(path) : random.pick(this.#own);
    const batches = Array.from({ length: 1 + random.below(4) }, () => [{ identity, spans: this.#spans() }]);
    return this.#deliverAll(batches);
  }

  /** Requests with a batch of each of several new traces. */
  #deliverTogether(): Promise<void> {
    const { random } = this.#options;
    const identities = this.#newOnes("otlp", togetherMax);
    return this.#deliverAll(
      Array.from({ length: 1 + random.below(5) }, () =>
        this.#shuffled(identities).map(identity => ({ identity, spans: this.#spans() })),
      ),
    );
  }

  #newOnes(path: Identity["path"], max: number): Identity[] {
    return Array.from({ length: 1 + this.#options.random.below(max) }, () => this.#new(path));
  }

  #shuffled<T>(items: T[]): T[] {
    const { random } = this.#options;
    return items
      .map(item => ({ item, order: random.below(2 ** 32) }))
      .sort((a, b) => a.order - b.order)
      .map(({ item }) => item);
  }

  #new(path: Identity["path"]): Identity {
    const { ledger, random } = this.#options;
    const identity = ledger.add(random.bytes(16).toString("hex"), path);
    if (path === "canonical") {
      if (this.#own.length === ownMax) this.#own.shift();
      this.#own.push(identity);
    }
    return identity;
  }

  /** Each request one to five times, in any order, one after the other or all at once. */
  async #deliverAll(requests: Part[][]): Promise<void> {
    const { random } = this.#options;
    const copies = requests.flatMap(parts => {
      const request = this.#request(parts);
      return Array.from({ length: 1 + random.below(timesMax) }, () => ({ parts, request }));
    });
    const deliver = ({ parts, request }: (typeof copies)[number]) =>
      this.#deliver(parts, request, this.#anyNode);
    const ordered = this.#shuffled(copies);
    if (random.chance(0.5)) await Promise.all(ordered.map(deliver));
    else for (const copy of ordered) await deliver(copy);
  }

  /**
   * New traces whose versions, or batches that overlap, are sent to the nodes at once, each to another. Batches of several
   * traces share requests, in which the traces stand in any order.
   */
  async #race(): Promise<void> {
    const { random, ledger } = this.#options;
    const identities = this.#newOnes(random.chance(0.5) ? "canonical" : "otlp", racesMax);
    const contenders = 2 + random.below(4);
    const shared = identities.map(() => this.#spans());
    const rounds = Array.from({ length: contenders }, () =>
      identities.map((identity, at) => {
        const spans = this.#spans();
        const known = shared[at]!;
        if (identity.path === "otlp") spans.push(...known.slice(random.below(known.length)));
        return { identity, spans };
      }),
    );
    const first = this.#anyRunning();
    await Promise.all(
      rounds.flatMap((parts, contender) => {
        const node = () => first + contender;
        const [{ identity }] = parts as [Part];
        const requests =
          identity.path === "otlp" ? [this.#shuffled(parts)] : this.#shuffled(parts).map(part => [part]);
        return requests.map(own => this.#deliver(own, this.#request(own), node));
      }),
    );
    ledger.races += identities.length;
  }

  /** Sends a new trace up to the point, where the node is killed, and then until it is acknowledged. */
  async interrupt(node: Node, point: RequestPoint): Promise<boolean> {
    const { random } = this.#options;
    const identity = this.#new(random.chance(0.5) ? "canonical" : "otlp");
    const parts = [{ identity, spans: this.#spans() }];
    const deliveries = begin(parts);
    const request = this.#request(parts);
    const { url } = node;
    identity.unknown++;
    const isReached = url !== undefined && (await sendUpTo(point, url, request, () => node.kill()));
    const finishing = this.#finish(parts, deliveries, request, this.#anyNode);
    finishing.catch(() => {}); // `stop` rejects as well
    this.#interrupted.push(finishing);
    return isReached;
  }

  #spans(): SentSpan[] {
    const { random } = this.#options;
    return Array.from({ length: 1 + random.below(4) }, () => ({
      spanId: random.bytes(8).toString("hex"),
      text: `${random.bytes(6).toString("hex")} 💡 \u0000 ${random.bytes(random.size(3_000)).toString("base64")}`,
    }));
  }

  readonly #anyNode = () => this.#options.random.below(this.#options.nodes.length);

  /** The numbers of the nodes that are up. */
  #running(): number[] {
    return this.#options.nodes.flatMap(({ url }, at) => (url === undefined ? [] : [at]));
  }

  #anyRunning(): number {
    const running = this.#running();
    return running.length > 0 ? this.#options.random.pick(running) : 0;
  }

  async #deliver(parts: Part[], request: Request, node: () => number): Promise<void> {
    if (this.#isStopping) return;
    await this.#finish(parts, begin(parts), request, node);
  }

  async #finish(parts: Part[], deliveries: Delivery[], request: Request, node: () => number): Promise<void> {
    while (!this.#isStopping) {
      if (await this.#send(parts, request, node())) {
        const acknowledgedMs = performance.now();
        for (const delivery of deliveries) delivery.acknowledgedMs = acknowledgedMs;
        this.#options.ledger.acknowledgements += deliveries.length;
        return;
      }
      await delay(retryMs);
    }
  }

  /** A canonical request has one trace. */
  #request(parts: Part[]): Request {
    const { agentId, serviceName, random, key } = this.#options;
    const nowMs = Date.now();
    const [{ identity, spans }] = parts as [Part];
    if (identity.path === "canonical") {
      const sent = spans.map(({ spanId, text }) =>
        canonicalSpan({ span_id: spanId, attributes: { "gen_ai.response.text": text } }),
      );
      const { externalId } = identity;
      const headers = { "x-api-key": key, "x-request-id": externalId, "content-type": "application/json" };
      const body = Buffer.from(JSON.stringify(canonicalBody(agentId, { spans: sent })));
      return { path: "/public/traces", headers, body };
    }
    const exported = parts.flatMap(({ identity, spans }) =>
      spans.map(({ spanId, text }) =>
        exportedSpan({
          traceId: identity.externalId,
          spanId,
          startTimeUnixNano: `${nowMs}000000`,
          endTimeUnixNano: `${nowMs + 5}000000`,
          attributes: [{ key: "gen_ai.response.text", value: { stringValue: text } }],
        }),
      ),
    );
    const encoding = encodings[random.chance(0.5) ? "json" : "protobuf"];
    // The spans of a trace need not stand together.
    const mixed = random.chance(0.5) ? this.#shuffled(exported) : exported;
    const { type, body } = encoding(exportOf(mixed, serviceName));
    return { path: "/public/traces", headers: { "x-api-key": key, "content-type": type }, body };
  }

  /** Whether it was acknowledged. */
  async #send(parts: Part[], request: Request, at: number): Promise<boolean> {
    const { nodes, ledger } = this.#options;
    const url = nodes[at % nodes.length]!.url;
    if (url === undefined) return false;
    const { status, text, code } = await send(url, request, this.#aborting.signal);
    ledger.count(status);
    const isAcknowledged = status === 200 || status === 201;
    for (const { identity } of parts) {
      if (status === 201) identity.created++;
      else if (!isAcknowledged) identity.unknown++;
    }
    // Documented for a service that has no place left; it does not say that nothing was stored.
    const isTooMany = status === 429 && code === "RATE_LIMITED";
    if (!isAcknowledged && status !== 0 && status !== 503 && !isTooMany)
      ledger.findings.push(`answered ${status}: ${text.slice(0, 200)}`);
    return isAcknowledged;
  }
}

function begin(parts: Part[]): Delivery[] {
  return parts.map(({ identity, spans }) => {
    const delivery: Delivery = { spans, startedMs: performance.now(), acknowledgedMs: null };
    identity.deliveries.push(delivery);
    return delivery;
  });
}
