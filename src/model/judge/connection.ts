// Validates a project's judge connection: required fields by provider, and the origin its stored key may be sent to.
import { z } from "zod";
import { headerName, headerValue, urlPattern } from "../agent/connection.ts";
import { ifThen } from "../if-then.ts";
import { pathText } from "../path.ts";
import { type Issue, Refusal } from "../refusal.ts";
import { type JudgeConnection, type JudgeHeader, type JudgeProvider, judgeProviders } from "./call.ts";

/** Hosts of the providers' own APIs; compatible servers have none. */
const providerHosts: Record<Exclude<JudgeProvider, "openai_compatible">, string> = {
  openai: "api.openai.com",
  anthropic: "api.anthropic.com",
  google: "generativelanguage.googleapis.com",
};

const providerNames: Record<keyof typeof providerHosts, string> = {
  openai: "OpenAI",
  anthropic: "Anthropic",
  google: "Google",
};

/** A model's name at its provider. */
export const modelName = z
  .string()
  .trim()
  .min(1, "Must not be empty.")
  .max(200)
  .regex(/^[^\p{Cc}\p{Cs}]*$/u, "Not a valid model name.")
  // Not every regex engine has Unicode classes.
  .meta({ pattern: "^[^\\x00-\\x1f\\x7f-\\x9f]*[^\\x00-\\x1f\\x7f-\\x9f\\s][^\\x00-\\x1f\\x7f-\\x9f]*$" });

/** The input of clients. An absent `apiKey` keeps the stored key, null removes it. */
export const judgeConnectionSchema = z
  .strictObject({
    provider: z.enum(judgeProviders),
    url: z
      .string()
      .trim()
      .max(2_000)
      .superRefine(checkUrl)
      .meta({ pattern: urlPattern, examples: ["https://judge.example/v1"] })
      .nullable()
      .default(null),
    model: modelName,
    apiKey: z
      .string()
      .trim()
      .min(1, "Must not be empty. Send null to remove the key.")
      .max(2_000)
      .regex(/^[\x21-\x7e]*$/, "Contains a character that is not allowed in an API key.")
      .nullish()
      .describe("Never returned. Absent keeps the stored key, null removes it."),
    headers: z
      .array(
        z.strictObject({
          name: headerName,
          value: headerValue
            .nullish()
            .describe("Never returned. Absent or null keeps the stored value of this header."),
        }),
      )
      .max(30)
      .optional()
      .describe("Sent with every call, such as x-portkey-provider. Absent keeps the stored headers."),
    concurrency: z.int().min(1).max(100).default(8).describe("Concurrent calls per process."),
    tokensPerMinute: z
      .int()
      .min(1_000)
      .max(1_000_000_000)
      .nullable()
      .default(null)
      .describe("Input and output tokens together, per process; null: unlimited."),
    votes: z
      .boolean()
      .default(false)
      .describe(
        "Whether to ask twice more where one criterion alone fails a test. Close scores are voted on anyway.",
      ),
  })
  .meta(
    ifThen(
      { properties: { provider: { const: "openai_compatible" } } },
      { required: ["url"], properties: { url: { type: "string" } } },
    ),
  );

export type TypedJudge = Omit<JudgeConnection, "timeoutMs">;

/**
 * Parses a client's connection, and adds the stored key if provider and origin are unchanged. Throws VALIDATION_ERROR.
 */
export function parseJudgeConnection(
  input: unknown,
  was: { connection: TypedJudge; keyUnreadable: boolean } | undefined,
): TypedJudge {
  const { success, data, error } = judgeConnectionSchema.safeParse(input);
  if (!success) {
    throw refusalOf(error.issues.map(({ path, message }) => ({ path: pathText(path), message })));
  }
  const { apiKey: typed, headers: typedHeaders, votes, ...rest } = data;
  if (rest.provider === "openai_compatible" && rest.url === null) {
    throw refusalOf([{ path: "url", message: "Enter the URL of the compatible server." }]);
  }
  const stored = was?.connection;
  if (typed === undefined && was?.keyUnreadable) {
    const message = "The stored API key was encrypted with another key. Enter it again, or remove it.";
    throw refusalOf([{ path: "apiKey", message }]);
  }
  const kept = typed === undefined ? (stored?.apiKey ?? null) : null;
  if (kept !== null && stored && !sameDestination(rest, stored)) {
    const message = `Enter the API key again: the stored one was entered for ${hostOf(stored)}.`;
    throw refusalOf([{ path: "apiKey", message }]);
  }
  const apiKey = typed ?? kept;
  if (apiKey === null && rest.provider !== "openai_compatible" && rest.url === null) {
    throw refusalOf([{ path: "apiKey", message: `${providerNames[rest.provider]} needs an API key.` }]);
  }
  const headers = headersOf(typedHeaders, rest, stored);
  return { ...rest, apiKey, ...(headers.length === 0 ? {} : { headers }), ...(votes ? { votes } : {}) };
}

type TypedHeaders = z.output<typeof judgeConnectionSchema>["headers"];

/** Stored values are secrets like the API key: they go nowhere but to the origin they were entered for. */
function headersOf(typed: TypedHeaders, to: Endpoint, stored: TypedJudge | undefined): JudgeHeader[] {
  const known = stored?.headers ?? [];
  const issues: Issue[] = [];
  const names = new Set<string>();
  const headers = (typed ?? known.map(({ name }) => ({ name, value: null }))).map(({ name, value }, at) => {
    const path = `headers[${at}]`;
    const lower = name.toLowerCase();
    if (names.has(lower)) issues.push({ path: `${path}.name`, message: "Duplicate header." });
    names.add(lower);
    if (value != null) return { name, value };
    const kept = known.find(one => one.name.toLowerCase() === lower);
    if (!kept) issues.push({ path: `${path}.value`, message: "Enter a value." });
    else if (!sameDestination(to, stored!)) {
      const message = `Enter the value again: the stored one was entered for ${hostOf(stored!)}.`;
      issues.push({ path: `${path}.value`, message });
    }
    return { name, value: kept?.value ?? "" };
  });
  if (issues.length > 0) throw refusalOf(issues);
  return headers;
}

type Endpoint = Pick<JudgeConnection, "provider" | "url">;

/** The host and port that calls go to. */
export function hostOf({ provider, url }: Endpoint): string {
  if (url !== null) return new URL(url).host;
  return provider === "openai_compatible" ? "" : providerHosts[provider];
}

function sameDestination(one: Endpoint, other: Endpoint): boolean {
  return one.provider === other.provider && originOf(one) === originOf(other);
}

function originOf(endpoint: Endpoint): string {
  return endpoint.url === null ? `https://${hostOf(endpoint)}` : new URL(endpoint.url).origin;
}

/** The message never repeats the URL: it may contain a password. */
function checkUrl(text: string, context: z.RefinementCtx<string>): void {
  const fault = faultOf(URL.parse(text));
  if (fault !== undefined) context.addIssue({ code: "custom", message: fault });
}

function faultOf(url: URL | null): string | undefined {
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) {
    return "Not a valid URL. Enter one like https://api.example.com/v1.";
  }
  if (url.username !== "" || url.password !== "") {
    return "Must not contain a user name or password. Enter the key in its own field.";
  }
  if (url.hash !== "") return "Must not contain #.";
  return undefined;
}

function refusalOf(issues: Issue[]): Refusal {
  return new Refusal("VALIDATION_ERROR", { issues });
}
