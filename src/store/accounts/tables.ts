// The tables of PostgreSQL as the query builder sees them; migrations/ is the truth they follow.
import type { ColumnType, Generated } from "kysely";

type Timestamp = ColumnType<Date, Date | string, Date | string>;
type GeneratedTimestamp = ColumnType<Date, Date | string | undefined, Date | string>;

export type Tables = {
  accounts: {
    id: string;
    name: string;
    email: string;
    email_verified: ColumnType<boolean, boolean | undefined, boolean>;
    image: string | null;
    first_project_made: ColumnType<boolean, boolean | undefined, boolean>;
    created_at: GeneratedTimestamp;
    updated_at: GeneratedTimestamp;
  };
  email_links: {
    token_hash: Buffer;
    account_id: string;
    email: string;
    sent_at: Timestamp | null;
    expires_at: Timestamp;
    used_at: Timestamp | null;
  };
  projects: { id: Generated<string>; account_id: string; name: string; created_at: GeneratedTimestamp };
  agents: {
    id: Generated<string>;
    project_id: string;
    name: string;
    type: "http_api" | "workflow" | "flow_builder";
    otlp_service_name: string | null;
    created_at: GeneratedTimestamp;
  };
  keys: {
    id: Generated<string>;
    project_id: string;
    name: string;
    hash: Buffer;
    last_four: string;
    access: "full" | "granular";
    expires_at: Timestamp | null;
    last_used_at: Timestamp | null;
    created_at: GeneratedTimestamp;
    created_by: ColumnType<string | null, string | null | undefined, string | null>;
  };
  key_agents: { key_id: string; agent_id: string };
  test_cases: {
    id: Generated<string>;
    agent_id: string;
    name: string;
    status: "active" | "disabled";
    passive_behavior: "always_run" | "run_when_relevant" | "manual_only";
    turn_count: number;
    document: string;
    version: Generated<number>;
    created_at: GeneratedTimestamp;
    updated_at: GeneratedTimestamp;
  };
};
