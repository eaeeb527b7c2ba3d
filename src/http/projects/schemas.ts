// The response schemas of projects, agents, agent connections and keys.
import { z } from "zod";
import type { ConnectionView } from "../../model/agent/connection.ts";
import { ShownRules } from "../convention-schemas.ts";
import { Id, Time, typed } from "../frame/schemas.ts";

export const Project = z.object({ id: Id, name: z.string(), createdAt: Time }).meta({ id: "Project" });
export type Project = z.output<typeof Project>;

export const RateLimit = z
  .object({
    requestsPerMinute: z.number().int().nullable().describe("Of all keys together; null: no limit."),
  })
  .meta({ id: "RateLimit" });
export type RateLimit = z.output<typeof RateLimit>;

export const AgentType = z.enum(["http_api", "workflow", "flow_builder"]);

export const ContentSetting = z
  .enum(["keep", "none", "forget"])
  .describe(
    "Whether content is stored; `none`: only structure, times, tokens, names, status and ids. `forget`: it is dropped some time after the last evaluation of the trace.",
  );

export const ReadFrom = z.strictObject({ spanName: z.string().min(1).max(500).describe("The whole name.") });

export const Agent = z
  .object({
    id: Id,
    projectId: Id,
    name: z.string(),
    type: AgentType,
    otlpServiceName: z.string().nullable(),
    conventions: z
      .array(z.string())
      .describe(
        "Tracing conventions that its traces are read by, beside the documented attributes; `*`: all.",
      ),
    conventionRules: ShownRules.describe(
      "Its own rules, which go before conventions, in the order in which they are tried.",
    ),
    readFrom: ReadFrom.nullable().describe(
      "The spans that input and reply are read from, where they have them; null: as usual.",
    ),
    content: ContentSetting,
    contentForgetAfterSeconds: z
      .number()
      .int()
      .nullable()
      .describe(
        "For `forget`: from the end of the last evaluation, or from the last batch if there is none.",
      ),
    attributes: z
      .object({ deny: z.array(z.string()), allow: z.array(z.string()).nullable() })
      .describe("The keys of attributes that are not stored, and the only ones that are; null: all."),
  })
  .meta({ id: "Agent" });
export type Agent = z.output<typeof Agent>;

export const AgentConventions = z
  .object({
    conventions: z.array(
      z.object({
        name: z.string(),
        title: z.string(),
        writes: z.string().describe("What writes it, in a sentence."),
      }),
    ),
    ruleTargets: z.array(z.string()).describe("The documented attributes that a rule can give."),
    rereading: z
      .object({ left: z.number().int(), of: z.number().int() })
      .nullable()
      .describe("After a change: how many of the latest traces are still to be derived again; null: none."),
  })
  .meta({ id: "AgentConventions" });
export type AgentConventions = z.output<typeof AgentConventions>;

export const AgentConnection = z
  .object({
    type: AgentType.describe("The type of the agent."),
    connection: typed<ConnectionView>()(
      z.looseObject({
        type: z.string(),
        headers: z.array(
          z.object({
            name: z.string(),
            value: z.string().optional(),
            secret: z.literal(true).optional(),
            set: z.boolean().optional().describe("For secrets: whether the stored value can be decrypted."),
          }),
        ),
        waitMs: z.number().int(),
        concurrency: z.number().int(),
      }),
    )
      .nullable()
      .describe("Null if the agent has no connection for its current type."),
    updatedAt: z.string().nullable(),
  })
  .meta({ id: "AgentConnection" });
export type AgentConnection = z.output<typeof AgentConnection>;

export const AgentTrial = z
  .object({
    ok: z.boolean().describe("Whether the reply contained text."),
    status: z.number().int().nullable(),
    ms: z.number().int(),
    text: z.string().nullable(),
    contentType: z.string().nullable(),
    requestId: z.string().describe("Sent as x-request-id."),
    code: z.string().nullable().describe("Error code."),
    reason: z.string().nullable().describe("What went wrong, in one sentence."),
  })
  .meta({ id: "AgentTrial" });
export type AgentTrial = z.output<typeof AgentTrial>;

export const Key = z
  .object({
    id: Id,
    name: z.string(),
    masked: z.string(),
    access: z.enum(["full", "granular"]),
    agentIds: z.array(Id),
    expiresAt: Time.nullable(),
    lastUsedAt: Time.nullable(),
    createdAt: Time,
    createdBy: z
      .object({ id: z.string(), name: z.string() })
      .nullable()
      .describe("The account that created the key; null if not recorded or deleted."),
    requestsPerMinute: z.number().int().nullable().describe("Null: no limit."),
    status: z.enum(["active", "expired"]),
  })
  .meta({ id: "Key" });
export type Key = z.output<typeof Key>;

export const CreatedKey = Key.extend({ key: z.string().describe("The full key, shown only once.") }).meta({
  id: "CreatedKey",
});
export type CreatedKey = z.output<typeof CreatedKey>;
