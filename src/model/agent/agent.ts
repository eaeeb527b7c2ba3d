// An agent: the AI system under watch, and the service name that its OpenTelemetry exporter sends.
import type { AttributeRules } from "../content/attribute-rules.ts";
import type { ContentSetting, Intake } from "../content.ts";
import type { ConventionRule, ReadBy, ReadFrom } from "./read-by.ts";

export type AgentType = "http_api" | "workflow" | "flow_builder";

export type Agent = {
  id: string;
  projectId: string;
  name: string;
  type: AgentType;
  /** Exact, case-sensitive, unique in its project. */
  otlpServiceName: string | null;
  /** The conventions that its traces are read by, beside the documented attributes; see conventions.ts. */
  conventions: string[];
  /** Its own rules, which go before conventions; see rules.ts. */
  conventionRules: ConventionRule[];
  /** The spans that input and reply are read from, where they have them; null: as usual. */
  readFrom: ReadFrom | null;
  /** Whether the content of its traces is stored, and for how long. */
  content: ContentSetting;
  /** For `forget`: seconds from the end of the last evaluation, else from the last batch. */
  contentForgetAfterSeconds: number | null;
  /** Which attributes are stored. */
  attributes: AttributeRules;
};

/** What the traces of an agent are read by and what is stored of them, if not everything, and what requests name it by. */
export type AgentConventions = ReadBy & {
  agentId: string;
  serviceName: string | null;
  /** Absent: its batches are stored as they arrive. */
  intake?: Intake | null | undefined;
};
