// A client: sends new traces, replacements, repetitions and races to the nodes, each until it is acknowledged.
import { setTimeout as delay } from "node:timers/promises";
import type { Random } from "../fuzz/random.ts";
import { canonicalBody, canonicalSpan, encodings, exportedSpan, exportOf } from "../test/support/bodies.ts";
import type { Delivery, Identity, Ledger, SentSpan } from "./ledger.ts";
import type { Node } from "./node.ts";

export type ClientOptions = {
  nodes: Node[];
  ledger: Ledger;
  random: Random;
  agentId: string;
  serviceName: string;
  key: string;
};

type Request = { path: string; headers: Record<string, string>; body: Buffer };

// As long as an exporter waits for an answer.
const answerMs = 10_000;
const retryMs = 100;
const repeatedMax = 5;

export class Client {
  readonly #options: ClientOptions;
  readonly #own: Identity[] = [];
  #isStopping = false;
  #aborting = new AbortController();

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  async run(): Promise<void> {
    while (!this.#isStopping) await this.#act();
  }

  /** Requests that are not acknowledged by then never are. */
  stop(): void {
    this.#isStopping = true;
    this.#aborting.abort();
  }

  #act(): Promise<unknown> {
    const { random } = this.#options;
    const kind = random.below(10);
    if (kind < 3) return this.#canonical(this.#new("canonical"));
    if (kind < 5 && this.#own.length > 0) return this.#canonical(random.pick(this.#own));
    if (kind < 6) return this.#race();
    return this.#otlp();
  }

  #new(path: Identity["path"]): Identity {
    const { ledger, random } = this.#options;
    const externalId = random.bytes(16).toString("hex");
    const identity = ledger.add({ externalId, path, deliveries: [] });
    if (path === "canonical") this.#own.push(identity);
    return identity;
  }

  /** The next version of a trace. One at a time: a later one starts when the one before is acknowledged. */
  async #canonical(identity: Identity): Promise<void> {
    await this.#deliver(identity, this.#spans(), this.#options.random.below(2));
  }

  /** Two versions of a new trace at once, to two nodes where there are two. */
  async #race(): Promise<void> {
    this.#options.ledger.races++;
    const identity = this.#new("canonical");
    await Promise.all([0, 1].map(node => this.#deliver(identity, this.#spans(), 0, node)));
  }

  /** A trace in several batches, in any order, some at once. */
  async #otlp(): Promise<void> {
    const { random } = this.#options;
    const identity = this.#new("otlp");
    const isAtOnce = random.chance(0.5);
    const batches = Array.from({ length: 1 + random.below(4) }, () => this.#spans());
    const sent = batches.map(spans => () => this.#deliver(identity, spans, random.below(repeatedMax)));
    if (isAtOnce) await Promise.all(sent.map(send => send()));
    else for (const send of sent) await send();
  }

  #spans(): SentSpan[] {
    const { random } = this.#options;
    return Array.from({ length: 1 + random.below(4) }, () => ({
      spanId: random.bytes(8).toString("hex"),
      text: `${random.bytes(6).toString("hex")} 💡 \u0000 ${random.bytes(random.size(3_000)).toString("base64")}`,
    }));
  }

  /** Sends until it is acknowledged, and then `repeated` times more. */
  async #deliver(identity: Identity, spans: SentSpan[], repeated: number, node?: number): Promise<void> {
    if (this.#isStopping) return;
    const { ledger, random } = this.#options;
    const delivery: Delivery = { spans, startedMs: performance.now(), acknowledgedMs: null };
    identity.deliveries.push(delivery);
    const request = this.#request(identity, spans);
    while (!this.#isStopping) {
      if (await this.#send(request, node ?? random.below(this.#options.nodes.length))) {
        delivery.acknowledgedMs = performance.now();
        ledger.acknowledgements++;
        break;
      }
      await delay(retryMs);
    }
    for (let count = 0; count < repeated && !this.#isStopping; count++) {
      // A repetition of what was replaced since would bring it back: only while nothing came after it.
      if (identity.path === "canonical" && identity.deliveries.at(-1) !== delivery) return;
      await this.#send(request, random.below(this.#options.nodes.length));
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
  async #send({ path, headers, body }: Request, at: number): Promise<boolean> {
    const { nodes, ledger } = this.#options;
    const url = nodes[at % nodes.length]!.url;
    if (url === undefined) return false;
    const signal = AbortSignal.any([this.#aborting.signal, AbortSignal.timeout(answerMs)]);
    try {
      const answer = await fetch(url + path, { method: "POST", headers, body: new Uint8Array(body), signal });
      const text = await answer.text();
      ledger.count(answer.status);
      if (answer.status === 200 || answer.status === 201) return true;
      if (answer.status !== 503) ledger.findings.push(`answered ${answer.status}: ${text.slice(0, 200)}`);
      return false;
    } catch {
      ledger.count(0);
      return false;
    }
  }
}
