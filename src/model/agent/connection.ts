// The connection to an agent, used by manual runs: one document, whose shape depends on the agent's type.
import { z } from "zod";
import { pathText } from "../path.ts";
import { type Issue, Refusal } from "../refusal.ts";
import type { AgentType } from "./agent.ts";
import { templateFault } from "./body-template.ts";

export type ConnectionHeader = {
  name: string;
  value: string;
  /** Encrypted at rest, and never returned by the API. */
  secret: boolean;
};

/**
 * Where the text of a reply is. `auto`: where products of this type usually put it. `trace`: in the trace that the agent
 * sends.
 */
export type ReplyLocation =
  | { kind: "json"; pointer: string }
  | { kind: "text" }
  | { kind: "auto" }
  | { kind: "trace" };

type Common = {
  headers: ConnectionHeader[];
  /** How long to wait for the trace of a turn. */
  waitMs: number;
  /** Concurrent runs of this agent. */
  concurrency: number;
};

export type HttpApiConnection = Common & {
  type: "http_api";
  method: "POST" | "PUT" | "PATCH";
  url: string;
  /** See body-template.ts. */
  bodyTemplate: string;
  reply: ReplyLocation;
};

export type WorkflowConnection = Common & { type: "workflow"; url: string } & (
    | { kind: "chat" }
    | { kind: "webhook"; bodyTemplate: string; reply: ReplyLocation }
  );

export type FlowBuilderConnection = Common & {
  type: "flow_builder";
  product: "flowise" | "langflow";
  /** URL of the server; the product's path and the flow's id are appended. */
  baseUrl: string;
  flowId: string;
  /** Flowise: sends the earlier messages, for a flow without memory of its own. */
  sendHistory: boolean;
};

export type AgentConnection = HttpApiConnection | WorkflowConnection | FlowBuilderConnection;

/** A connection read from the database. `unreadable`: names of secret headers encrypted with another key. */
export type StoredConnection = { connection: AgentConnection; unreadable: string[]; updatedAt: Date };

export const webhookTemplate = '{\n  "chatInput": "{{input}}",\n  "sessionId": "{{conversation_id}}"\n}';

const headersMax = 30;

/** How a URL that may be called begins, for OpenAPI: only `URL` knows all that follows. */
export const urlPattern = "^\\s*[Hh][Tt][Tt][Pp][Ss]?:";
/** The URL of a server that users may have called. */
export const callableUrl = z
  .string()
  .trim()
  .max(2_000)
  .superRefine(checkUrl)
  .meta({ pattern: urlPattern, examples: ["https://agent.example/chat"] });
const pointer = z
  .string()
  .max(1_000)
  .regex(/^(?:\/(?:[^~/]|~[01])*)*$/, "Not a JSON pointer, such as /choices/0/message/content.");
const bodyTemplate = z
  .string()
  .max(100_000)
  .superRefine((template, context) => {
    const message = templateFault(template);
    if (message !== undefined) context.addIssue({ code: "custom", message });
  })
  .meta({
    pattern: "\\{\\{\\s*(input|messages)\\s*\\}\\}",
    examples: ['{ "message": "{{input}}" }'],
    description: "JSON with placeholders within double quotes.",
  });

const json = z.strictObject({ kind: z.literal("json"), pointer });
const text = z.strictObject({ kind: z.literal("text") });
const auto = z.strictObject({ kind: z.literal("auto") });
const trace = z.strictObject({
  kind: z
    .literal("trace")
    .describe(
      "The agent answers any 2xx, such as 202, and replies in the trace that it sends within waitMs.",
    ),
});
/** Without a wait, no reply could arrive in a trace. */
const replyWaitMsMin = 1_000;

export const headerName = z
  .string()
  .trim()
  .max(200)
  .regex(/^[\w!#$%&'*+.^`|~-]+$/, "Not a valid header name.")
  .refine(name => !ownHeaders.has(name.toLowerCase()), "The service sets this header itself.");
export const headerValue = z
  .string()
  .max(8_000)
  .regex(/^[\t\x20-\x7e\x80-\xff]*$/, "Contains a character that is not allowed in a header.");

const header = z.strictObject({
  name: headerName,
  /** Absent or null keeps the stored secret. */
  value: headerValue.nullish(),
  secret: z.boolean().default(false),
  /** Returned by the API, and ignored on input. */
  set: z.boolean().optional(),
});

const common = {
  headers: z.array(header).max(headersMax).default([]),
  waitMs: z.int().min(0).max(120_000).default(15_000),
  concurrency: z.int().min(1).max(20).default(2),
};

const schemas = {
  http_api: z.strictObject({
    type: z.literal("http_api"),
    method: z.enum(["POST", "PUT", "PATCH"]).default("POST"),
    url: callableUrl,
    bodyTemplate,
    reply: z.discriminatedUnion("kind", [json, text, trace]),
    ...common,
  }),
  workflow: z.discriminatedUnion("kind", [
    z.strictObject({ type: z.literal("workflow"), kind: z.literal("chat"), url: callableUrl, ...common }),
    z.strictObject({
      type: z.literal("workflow"),
      kind: z.literal("webhook"),
      url: callableUrl,
      bodyTemplate: bodyTemplate.default(webhookTemplate),
      reply: z.discriminatedUnion("kind", [auto, json, text, trace]).default({ kind: "auto" }),
      ...common,
    }),
  ]),
  flow_builder: z.strictObject({
    type: z.literal("flow_builder"),
    product: z.enum(["flowise", "langflow"]),
    baseUrl: callableUrl.refine(
      text => !/\/api\/v1\b/.test(text) && !/[?#]/.test(text),
      "Enter only the server's URL: the path /api/v1/… and the flow's ID are added.",
    ),
    flowId: z
      .string()
      .trim()
      .min(1, "Must not be empty.")
      .max(200)
      .regex(/^[\w-]*$/, "Must be a flow's ID or endpoint name: letters, digits, - and _."),
    sendHistory: z.boolean().default(false),
    ...common,
  }),
};

/** The input of clients, for OpenAPI. */
export const connectionInputSchema = z.union(Object.values(schemas));

// Headers that HTTP derives from the call, and those by which its trace is recognized.
const ownHeaders = new Set([
  "host",
  "connection",
  "content-length",
  "expect",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "traceparent",
  "tracestate",
  "x-request-id",
]);

/** Headers with such a name are always stored as secrets. */
const secretNames = /^cookie$|authorization|key|token|secret|password/i;

/**
 * Parses a client's connection for an agent of this type. A secret without a value keeps the stored one if the origin
 * is unchanged. Throws VALIDATION_ERROR with the path of each invalid field.
 */
export function parseConnection(
  input: unknown,
  type: AgentType,
  stored: StoredConnection | undefined,
): AgentConnection {
  const given = typeof input === "object" && input !== null ? { type, ...input } : input;
  if ((given as { type?: unknown } | null)?.type !== type) {
    refuse([{ path: "type", message: `Must be ${type}, like the agent's type.` }]);
  }
  const read = schemas[type].safeParse(given, { error: sentence });
  if (!read.success) return refuse(read.error.issues.flatMap(issuesOf));
  const known = stored?.connection.type === type ? stored : undefined;
  const issues: Issue[] = waitIssues(read.data);
  const names = new Set<string>();
  const headers = read.data.headers.map(({ name, value, secret }, at): ConnectionHeader => {
    const path = `headers[${at}]`;
    if (names.has(name.toLowerCase())) issues.push({ path: `${path}.name`, message: "Duplicate header." });
    names.add(name.toLowerCase());
    if (value != null) return { name, value, secret: secret || secretNames.test(name) };
    const kept = secret ? keptSecret(read.data, name, known) : unsaid;
    if (kept.value === undefined) issues.push({ path: `${path}.value`, message: kept.why });
    return { name, value: kept.value ?? "", secret: true };
  });
  return issues.length > 0 ? refuse(issues) : { ...read.data, headers };
}

const unsaid = { value: undefined, why: "Enter a value." };

function waitIssues(connection: { waitMs: number; reply?: ReplyLocation }): Issue[] {
  if (connection.reply?.kind !== "trace" || connection.waitMs >= replyWaitMsMin) return [];
  return [{ path: "waitMs", message: "Wait at least 1 s: the reply is in the trace." }];
}

type Kept = { value: string } | { value: undefined; why: string };

/** A stored secret is kept only for the same origin: otherwise a new URL could receive a secret that nobody can read. */
function keptSecret(draft: Addressed, name: string, stored: StoredConnection | undefined): Kept {
  const lower = name.toLowerCase();
  const header = stored?.connection.headers.find(one => one.secret && one.name.toLowerCase() === lower);
  if (!stored || !header) return unsaid;
  if (stored.unreadable.includes(header.name)) {
    return { value: undefined, why: "Encrypted with another key. Enter it again." };
  }
  if (originOf(stored.connection) !== originOf(draft)) {
    return { value: undefined, why: "The URL has changed. Enter this secret again." };
  }
  return { value: header.value };
}

type Addressed = { url: string } | { baseUrl: string };

function originOf(connection: Addressed): string {
  return new URL("url" in connection ? connection.url : connection.baseUrl).origin;
}

/** The connection as the API returns it: of a secret only its name, and whether it is usable. */
export function connectionView({ connection, unreadable }: StoredConnection) {
  return {
    ...connection,
    headers: connection.headers.map(({ name, value, secret }) =>
      secret ? { name, secret: true as const, set: !unreadable.includes(name) } : { name, value },
    ),
  };
}

export type ConnectionView = ReturnType<typeof connectionView>;

function checkUrl(text: string, context: z.core.$RefinementCtx<string>): void {
  const parsed = URL.parse(text);
  const problem =
    parsed === null || !/^https?:$/.test(parsed.protocol)
      ? "Must be a URL that starts with http:// or https://."
      : parsed.username !== "" || parsed.password !== ""
        ? "Must not contain a user name or password. Send them in a header."
        : undefined;
  if (problem !== undefined) context.addIssue({ code: "custom", message: problem });
}

function issuesOf(issue: z.core.$ZodIssue): Issue[] {
  if (issue.code !== "unrecognized_keys") return [{ path: pathText(issue.path), message: issue.message }];
  return issue.keys.map(key => ({
    path: pathText([...issue.path, key]),
    message: `Unknown field "${key}".`,
  }));
}

function sentence(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.input === undefined && issue.code !== "custom") return "This field is required.";
  return undefined;
}

function refuse(issues: Issue[]): never {
  const [first] = issues;
  const where = first?.path ? `${first.path}: ` : "";
  throw new Refusal("VALIDATION_ERROR", {
    message: `Invalid connection. ${where}${first?.message ?? ""}`,
    issues: issues.slice(0, 20),
  });
}
