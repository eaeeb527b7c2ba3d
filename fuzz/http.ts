// Sends mutants to a service: each answer is documented, comes in time, and what is accepted can be read.
import { Agent, type IncomingHttpHeaders, request } from "node:http";
import { buffer } from "node:stream/consumers";
import { type RefusalCode, refusals } from "../src/model/refusals.ts";
import { statusMessage } from "../test/support/rpc-status.ts";
import { Finding } from "./check.ts";
import { type Mutant, Mutants, type Path } from "./mutant.ts";
import { Random } from "./random.ts";
import { answerMsMax, type RangeReport } from "./range.ts";
import { openTarget, type ServiceTarget, type Target } from "./target.ts";

export type { ServiceTarget };

type HttpRange = { seed: number; from: number; to: number; paths: Path[]; connections: number };

/** What the ingestion endpoints may answer; which of them a mutant gets, decoding decides. */
const documented = new Set<RefusalCode>([
  ...["VALIDATION_ERROR", "CUSTOM_API_PLATFORM_NOT_FOUND", "OTLP_SERVICE_NAME_REQUIRED", "OTLP_NO_SPANS"],
  ...["OTLP_ID_INVALID", "OTLP_PROTOBUF_INVALID", "OTLP_PLATFORM_NOT_ALLOWED", "OTLP_PLATFORM_NOT_FOUND"],
  ...["PAYLOAD_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE", "RATE_LIMITED", "UNAVAILABLE"],
] as RefusalCode[]);

export async function fuzzService(
  { seed, from, to, paths, connections, ...given }: HttpRange & ServiceTarget,
  print: (line: string) => void,
): Promise<[Path, RangeReport][]> {
  const target = await openTarget(given);
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const mutants = new Mutants();
  const reports: [Path, RangeReport][] = [];
  try {
    for (const path of paths) {
      const report: RangeReport = {
        checked: 0,
        bytes: 0,
        codes: {},
        findings: [],
        slowest: { number: from, ms: 0 },
      };
      reports.push([path, report]);
      let next = from;
      const work = async () => {
        while (next < to && !target.ended() && report.findings.length < 20) {
          const number = next++;
          await sendOne(target, agent, mutants.make(path, seed, number), report);
          if (report.checked % 5_000 === 0) print(`${path}: ${report.checked} sent`);
        }
      };
      await Promise.all(Array.from({ length: connections }, work));
      const ended = target.ended();
      for (const line of target.errors.splice(0)) {
        report.findings.push({
          path,
          seed,
          number: from,
          what: `logged as an error: ${line.slice(0, 1_000)}`,
        });
      }
      if (ended) report.findings.push({ path, seed, number: next - 1, what: ended });
      else if ((await fetch(`${target.url}/readyz`)).status !== 200) {
        report.findings.push({ path, seed, number: next - 1, what: "the service is not ready" });
      }
    }
  } finally {
    agent.destroy();
    await target.close();
  }
  return reports;
}

async function sendOne(target: Target, agent: Agent, mutant: Mutant, report: RangeReport): Promise<void> {
  const { path, seed, number, body } = mutant;
  const found = (what: string) => report.findings.push({ path, seed, number, what });
  const started = performance.now();
  const logged = target.errors.length;
  try {
    const answer = await send(target, agent, mutant);
    let ms = performance.now() - started;
    // A busy machine delays any answer: a body is too slow if it is every time.
    for (let again = 0; again < 2 && ms > answerMsMax; again++) ms = await timeOf(target, agent, mutant);
    if (ms > report.slowest.ms) report.slowest = { number, ms };
    if (ms > answerMsMax) found(`answered after ${Math.round(ms)} ms`);
    const code = codeOf(answer);
    report.codes[code] = (report.codes[code] ?? 0) + 1;
    const traceId = traceOf(answer);
    if (traceId && new Random(seed, "read", number).chance(0.5)) await readTrace(target, agent, traceId);
  } catch (error) {
    found(
      error instanceof Finding ? error.message : String((error as Error)?.stack ?? error).slice(0, 1_000),
    );
  }
  for (const line of target.errors.splice(logged)) found(`logged as an error: ${line.slice(0, 1_000)}`);
  report.checked++;
  report.bytes += body.length;
}

async function timeOf(target: Target, agent: Agent, mutant: Mutant): Promise<number> {
  const started = performance.now();
  await send(target, agent, mutant);
  return performance.now() - started;
}

type Answer = { status: number; headers: IncomingHttpHeaders; bytes: Buffer };

const types = {
  json: ["application/json", "Application/JSON; charset=utf-8", 'application/json;charset="x"'],
  protobuf: ["application/x-protobuf", "application/protobuf"],
};
const otherTypes = [
  "",
  "text/plain",
  "application/grpc",
  "application/json, application/json",
  "multipart/form-data",
];
const otherEncodings = ["identity", "GZIP", "deflate", "gzip, gzip", "br", "", "x-gzip"];

/** The mutant with the headers that belong to it; one in fifty with others. */
function headersOf({ mediaType, gzip, endpoint, seed, number, body, path }: Mutant, keys: Target["keys"]) {
  const random = new Random(seed, `headers ${path}`, number);
  const odd = random.chance(0.02);
  const type = odd
    ? random.pick([...otherTypes, ...types.json, ...types.protobuf])
    : random.pick(types[mediaType]);
  const encoding = odd ? random.pick(otherEncodings) : gzip ? "gzip" : undefined;
  const id = random.chance(0.1)
    ? random.pick(["", "one", "x".repeat(255), "x".repeat(256), "é", "a\tb"])
    : undefined;
  return {
    "x-api-key": endpoint === "traces" && path === "json" ? keys.granular : keys.full,
    ...(type && { "content-type": type }),
    ...(encoding !== undefined && { "content-encoding": encoding }),
    ...(id !== undefined && { "x-request-id": id }),
    ...(random.chance(0.1) ? { "transfer-encoding": "chunked" } : { "content-length": body.length }),
  };
}

function send({ url, keys }: Target, agent: Agent, mutant: Mutant): Promise<Answer> {
  const headers = headersOf(mutant, keys);
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/public/${mutant.endpoint}`, { method: "POST", agent, headers });
    sent.setTimeout(10 * answerMsMax, () => sent.destroy(new Finding("no answer")));
    sent.on("error", reject);
    sent.on("response", response => {
      const { statusCode: status, headers } = response;
      buffer(response).then(bytes => resolve({ status: status!, headers, bytes }), reject);
    });
    sent.end(mutant.body);
  });
}

/** OK, PARTIAL, or the code of a documented refusal in the encoding that its Content-Type says. */
function codeOf({ status, headers, bytes }: Answer): string {
  const type = headers["content-type"];
  const isProtobuf = type === "application/x-protobuf";
  if (!isProtobuf && type !== "application/json")
    throw new Finding(`${status} with the Content-Type ${type}`);
  if (status === 200 || status === 201) {
    if (isProtobuf) return bytes.length === 0 ? "OK" : "PARTIAL";
    return JSON.parse(bytes.toString()).partialSuccess ? "PARTIAL" : "OK";
  }
  const code = (
    isProtobuf ? statusMessage(bytes).split(":", 1)[0] : JSON.parse(bytes.toString()).code
  ) as RefusalCode;
  if (!documented.has(code))
    throw new Finding(`answered ${status} ${code}: ${bytes.toString().slice(0, 300)}`);
  if (refusals[code][0] !== status) throw new Finding(`${code} was answered with ${status}`);
  const isTransient = status === 429 || status === 503;
  if (isTransient && !/^\d+$/.test(headers["retry-after"] ?? ""))
    throw new Finding(`${code} without Retry-After`);
  if (!isProtobuf) {
    const { message, requestId } = JSON.parse(bytes.toString());
    if (typeof message !== "string" || typeof requestId !== "string")
      throw new Finding(`${code} has another shape`);
  }
  return code;
}

function traceOf({ status, headers }: Answer): string | undefined {
  const id = headers["x-svc-trace-id"];
  return status < 300 && typeof id === "string" ? id : undefined;
}

async function readTrace({ url, cookie }: Target, agent: Agent, id: string): Promise<void> {
  for (const path of [`/api/traces/${id}`, `/api/traces/${id}/outline`]) {
    const times: number[] = [];
    do {
      const started = performance.now();
      const { status, bytes } = await get(url + path, agent, cookie);
      times.push(performance.now() - started);
      if (status !== 200)
        throw new Finding(`${path} was answered ${status}: ${bytes.toString().slice(0, 300)}`);
      JSON.parse(bytes.toString());
    } while (times.at(-1)! > answerMsMax && times.length < 3);
    const ms = Math.min(...times);
    if (ms > answerMsMax) throw new Finding(`${path} was answered after ${Math.round(ms)} ms`);
  }
}

function get(url: string, agent: Agent, cookie: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent, headers: { cookie } });
    sent.on("error", reject);
    sent.on("response", response => {
      const { statusCode: status, headers } = response;
      buffer(response).then(bytes => resolve({ status: status!, headers, bytes }), reject);
    });
    sent.end();
  });
}
