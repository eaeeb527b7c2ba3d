// A project's judge as it is typed in: what each provider needs, and where its key may be sent.
import { z } from "zod";
import { pathText } from "../path.ts";
import { type Issue, Refusal } from "../refusal.ts";
import { type JudgeConnection, type JudgeProvider, judgeProviders } from "./call.ts";

/** Where a provider's own service answers; of compatible servers there is no such place. */
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

/** As a provider calls it. */
export const modelName = z
  .string()
  .trim()
  .min(1, "Must not be empty.")
  .max(200)
  .regex(/^[^\p{Cc}\p{Cs}]*$/u, "Not a name of a model.");

/** What clients write. `apiKey` absent keeps the stored one, null removes it. */
export const judgeConnectionSchema = z.strictObject({
  provider: z.enum(judgeProviders),
  url: z.string().trim().max(2_000).superRefine(checkUrl).nullable().default(null),
  model: modelName,
  apiKey: z
    .string()
    .trim()
    .min(1, "Must not be empty; null removes the key.")
    .max(2_000)
    .regex(/^[\x21-\x7e]*$/, "Holds a character that no key has.")
    .nullish()
    .describe("Never answered. Absent: the stored one is kept; null: it is removed."),
  concurrency: z.int().min(1).max(100).default(8).describe("Calls at a time, in one process."),
  tokensPerMinute: z
    .int()
    .min(1_000)
    .max(1_000_000_000)
    .nullable()
    .default(null)
    .describe("In and out together, in one process; null: as many as it takes."),
});

export type TypedJudge = Omit<JudgeConnection, "timeoutMs">;

/**
 * Completes what was typed by the stored key, which goes nowhere but where it was entered for. Throws
 * VALIDATION_ERROR.
 */
export function parseJudgeConnection(
  input: unknown,
  was: { connection: TypedJudge; keyUnreadable: boolean } | undefined,
): TypedJudge {
  const { success, data, error } = judgeConnectionSchema.safeParse(input);
  if (!success) {
    throw refusalOf(error.issues.map(({ path, message }) => ({ path: pathText(path), message })));
  }
  const { apiKey: typed, ...rest } = data;
  if (rest.provider === "openai_compatible" && rest.url === null) {
    throw refusalOf([{ path: "url", message: "A compatible server needs its address." }]);
  }
  const stored = was?.connection;
  if (typed === undefined && was?.keyUnreadable) {
    const message = "The stored key was encrypted with another key: enter it again, or remove it.";
    throw refusalOf([{ path: "apiKey", message }]);
  }
  const kept = typed === undefined ? (stored?.apiKey ?? null) : null;
  if (kept !== null && stored && !sameDestination(rest, stored)) {
    const message = `Enter the key again: the stored one was given for ${hostOf(stored)}.`;
    throw refusalOf([{ path: "apiKey", message }]);
  }
  const apiKey = typed ?? kept;
  if (apiKey === null && rest.provider !== "openai_compatible" && rest.url === null) {
    throw refusalOf([{ path: "apiKey", message: `${providerNames[rest.provider]} needs an API key.` }]);
  }
  return { ...rest, apiKey };
}

type Place = Pick<JudgeConnection, "provider" | "url">;

/** The host and port that calls go to. */
export function hostOf({ provider, url }: Place): string {
  if (url !== null) return new URL(url).host;
  return provider === "openai_compatible" ? "" : providerHosts[provider];
}

function sameDestination(one: Place, other: Place): boolean {
  return one.provider === other.provider && originOf(one) === originOf(other);
}

function originOf(place: Place): string {
  return place.url === null ? `https://${hostOf(place)}` : new URL(place.url).origin;
}

/** Never repeats the address: it may hold a password. */
function checkUrl(text: string, context: z.RefinementCtx<string>): void {
  const fault = faultOf(URL.parse(text));
  if (fault !== undefined) context.addIssue({ code: "custom", message: fault });
}

function faultOf(url: URL | null): string | undefined {
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) {
    return "Not an address: write it like https://api.example.com/v1.";
  }
  if (url.username !== "" || url.password !== "") {
    return "Holds a user name or password: enter the key in its own field.";
  }
  if (url.search !== "" || url.hash !== "") return "Must end with its path: no ? and no #.";
  return undefined;
}

function refusalOf(issues: Issue[]): Refusal {
  return new Refusal("VALIDATION_ERROR", { issues });
}
