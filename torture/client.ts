// A client: sends new traces, other versions of them and races, everything one to five times, each until it is acknowledged.
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
    if (kind < 2) return this.#race();
    const path = kind < 6 ? "canonical" : "otlp";
    const isNew = path === "otlp" || this.#own.length === 0 || random.chance(0.5);
    const identity = isNew ? this.#new(path) : random.pick(this.#own);
    const batches = Array.from({ length: 1 + random.below(4) }, () => this.#spans());
    return this.#deliverAll(identity, batches);
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

  /** Each batch or version one to five times, in any order, one after the other or all at once. */
  async #deliverAll(identity: Identity, batches: SentSpan[][]): Promise<void> {
    const { random } = this.#options;
    const copies = batches.flatMap(spans => {
      const request = this.#request(identity, spans);
      const times = 1 + random.below(timesMax);
      return Array.from({ length: times }, () => ({ spans, request, order: random.below(2 ** 32) }));
    });
    const sends = copies
      .toSorted((a, b) => a.order - b.order)
      .map(
        ({ spans, request }) =>
          () =>
            this.#deliver(identity, spans, request, this.#anyNode),
      );
    if (random.chance(0.5)) await Promise.all(sends.map(send => send()));
    else for (const send of sends) await send();
  }

  /** A new trace whose versions, or batches that overlap, are sent to the nodes at once, each to another. */
  async #race(): Promise<void> {
    const { random, ledger } = this.#options;
    const identity = this.#new(random.chance(0.5) ? "canonical" : "otlp");
    const shared = this.#spans();
    const sent = Array.from({ length: 2 + random.below(4) }, () => {
      const spans = this.#spans();
      return identity.path === "canonical" ? spans : [...spans, ...shared.slice(random.below(shared.length))];
    });
    await Promise.all(
      sent.map((spans, at) => this.#deliver(identity, spans, this.#request(identity, spans), () => at)),
    );
    ledger.races++;
  }

  /** Sends a new trace up to the point, where the node is killed, and then until it is acknowledged. */
  async interrupt(node: Node, point: RequestPoint): Promise<boolean> {
    const { random } = this.#options;
    const identity = this.#new(random.chance(0.5) ? "canonical" : "otlp");
    const delivery = begin(identity, this.#spans());
    const request = this.#request(identity, delivery.spans);
    const { url } = node;
    identity.unknown++;
    const isReached = url !== undefined && (await sendUpTo(point, url, request, () => node.kill()));
    this.#interrupted.push(this.#finish(identity, delivery, request, this.#anyNode));
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

  async #deliver(identity: Identity, spans: SentSpan[], request: Request, node: () => number): Promise<void> {
    if (this.#isStopping) return;
    await this.#finish(identity, begin(identity, spans), request, node);
  }

  async #finish(identity: Identity, delivery: Delivery, request: Request, node: () => number): Promise<void> {
    while (!this.#isStopping) {
      if (await this.#send(identity, request, node())) {
        delivery.acknowledgedMs = performance.now();
        this.#options.ledger.acknowledgements++;
        return;
      }
      await delay(retryMs);
    }
  }

  #request({ path, externalId }: Identity, spans: SentSpan[]): Request {
    const { agentId, serviceName, random, key } = this.#options;
    const nowMs = Date.now();
    if (path === "canonical") {
      const sent = spans.map(({ spanId, text }) =>
        canonicalSpan({ span_id: spanId, attributes: { "gen_ai.response.text": text } }),
      );
      const headers = { "x-api-key": key, "x-request-id": externalId, "content-type": "application/json" };
      const body = Buffer.from(JSON.stringify(canonicalBody(agentId, { spans: sent })));
      return { path: "/public/traces", headers, body };
    }
    const exported = spans.map(({ spanId, text }) =>
      exportedSpan({
        traceId: externalId,
        spanId,
        startTimeUnixNano: `${nowMs}000000`,
        endTimeUnixNano: `${nowMs + 5}000000`,
        attributes: [{ key: "gen_ai.response.text", value: { stringValue: text } }],
      }),
    );
    const encoding = encodings[random.chance(0.5) ? "json" : "protobuf"];
    const { type, body } = encoding(exportOf(exported, serviceName));
    return { path: "/public/traces", headers: { "x-api-key": key, "content-type": type }, body };
  }

  /** Whether it was acknowledged. */
  async #send(identity: Identity, request: Request, at: number): Promise<boolean> {
    const { nodes, ledger } = this.#options;
    const url = nodes[at % nodes.length]!.url;
    if (url === undefined) return false;
    const { status, text } = await send(url, request, this.#aborting.signal);
    ledger.count(status);
    if (status === 201) identity.created++;
    if (status === 200 || status === 201) return true;
    identity.unknown++;
    if (status !== 0 && status !== 503) ledger.findings.push(`answered ${status}: ${text.slice(0, 200)}`);
    return false;
  }
}

function begin(identity: Identity, spans: SentSpan[]): Delivery {
  const delivery: Delivery = { spans, startedMs: performance.now(), acknowledgedMs: null };
  identity.deliveries.push(delivery);
  return delivery;
}
