// Makes the mutant of a path, seed and number: always the same bytes.
import { mutatedGzip } from "./gzip-mutations.ts";
import { mutatedJson } from "./json-mutations.ts";
import { textOf } from "./json-tree.ts";
import { mutatedProtobuf } from "./protobuf-mutations.ts";
import { bytesOf } from "./protobuf-tree.ts";
import { Random } from "./random.ts";
import { type Endpoint, readSeeds, type Seeds } from "./seeds.ts";

export const paths = ["json", "otlp-json", "protobuf", "gzip"] as const;
export type Path = (typeof paths)[number];

export type Mutant = {
  path: Path;
  seed: number;
  number: number;
  /** The name of the body that it was made from. */
  from: string;
  endpoint: Endpoint;
  mediaType: "json" | "protobuf";
  /** Whether it is sent with `Content-Encoding: gzip`. */
  gzip: boolean;
  body: Buffer;
};

type Made = Pick<Mutant, "from" | "endpoint" | "mediaType" | "body">;

export class Mutants {
  readonly #seeds: Seeds = readSeeds();
  readonly #trees = {
    json: this.#seeds.canonical.map(({ body }) => body),
    "otlp-json": this.#seeds.otlpJson.map(({ body }) => body),
  };
  readonly #messages = this.#seeds.protobuf.map(({ body }) => body);

  make(path: Path, seed: number, number: number): Mutant {
    const random = new Random(seed, path, number);
    const made = path === "gzip" ? this.#compressed(random) : this.#plain(path, random);
    return { path, seed, number, gzip: path === "gzip", ...made };
  }

  #plain(path: Exclude<Path, "gzip">, random: Random): Made {
    if (path === "protobuf") {
      const { name: from, endpoint, body } = random.pick(this.#seeds.protobuf);
      return { from, endpoint, mediaType: "protobuf", body: mutatedProtobuf(body, this.#messages, random) };
    }
    const seeds = path === "json" ? this.#seeds.canonical : this.#seeds.otlpJson;
    const { name: from, endpoint, body } = random.pick(seeds);
    return { from, endpoint, mediaType: "json", body: mutatedJson(body, this.#trees[path], random) };
  }

  /** Of a whole body, or of a mutant. */
  #compressed(random: Random): Made {
    const path = random.pick(["json", "otlp-json", "protobuf"] as const);
    const inner = random.chance(0.7) ? this.#whole(path, random) : this.#plain(path, random);
    return { ...inner, body: mutatedGzip(inner.body, random) };
  }

  #whole(path: Exclude<Path, "gzip">, random: Random): Made {
    if (path === "protobuf") {
      const { name: from, endpoint, body } = random.pick(this.#seeds.protobuf);
      return { from, endpoint, mediaType: "protobuf", body: bytesOf(body) };
    }
    const {
      name: from,
      endpoint,
      body,
    } = random.pick(path === "json" ? this.#seeds.canonical : this.#seeds.otlpJson);
    return { from, endpoint, mediaType: "json", body: Buffer.from(textOf(body)) };
  }
}
