// The project's own judge connection, with its API key encrypted.
import type { JudgeHeader, JudgeProvider } from "../../model/judge/call.ts";
import type { TypedJudge } from "../../model/judge/connection.ts";
import { referenceTransaction } from "../cluster/references.ts";
import type { Database } from "../db.ts";
import { bound } from "../parameters/bound.ts";
import type { Vault } from "../secrets/vault.ts";

export type StoredJudge = {
  /** `apiKey` is null if none is stored, and if the stored one cannot be decrypted. */
  connection: TypedJudge;
  keyLastFour: string | null;
  /** The API key or the headers were encrypted with another master key and must be entered again. */
  keyUnreadable: boolean;
  /** Another one after every save. */
  version: string;
};

type Row = {
  provider: JudgeProvider;
  url: string | null;
  model: string;
  apiKey: Buffer | null;
  headers: Buffer | null;
  keyLastFour: string | null;
  concurrency: number;
  tokensPerMinute: number | null;
  votes: boolean;
  version: string;
};

const columns = `provider, url, model, api_key as "apiKey", headers, key_last_four as "keyLastFour", concurrency,
  tokens_per_minute as "tokensPerMinute", votes, updated_at::text as version`;

/** Undefined if the project has no connection of its own. */
export async function findJudgeConnection(
  db: Database,
  vault: Vault,
  projectId: string,
): Promise<StoredJudge | undefined> {
  const { rows } = await db.pool.query<Row>({
    name: "judge-connection",
    text: `select ${columns} from judge_connections where project_id = $1`,
    values: [projectId],
  });
  return rows[0] && opened(vault, projectId, rows[0]);
}

/** Replaces the connection by `change` of the current one, under a lock on the project. */
export async function saveJudgeConnection(
  db: Database,
  vault: Vault,
  projectId: string,
  change: (current: StoredJudge | undefined) => TypedJudge,
): Promise<StoredJudge | undefined> {
  return referenceTransaction(db, async client => {
    const projects = await client.query("select 1 from projects where id = $1 for no key update", [
      projectId,
    ]);
    if (projects.rowCount === 0) return undefined;
    const found = await client.query<Row>(`select ${columns} from judge_connections where project_id = $1`, [
      projectId,
    ]);
    const {
      provider,
      url,
      model,
      apiKey,
      headers = [],
      concurrency,
      tokensPerMinute,
      votes = false,
    } = change(found.rows[0] && opened(vault, projectId, found.rows[0]));
    const row = {
      ...{ provider, url, model, concurrency, tokens_per_minute: tokensPerMinute, votes },
      api_key: apiKey === null ? null : vault.seal(apiKey, about(projectId)),
      key_last_four: apiKey === null ? null : lastFourOf(apiKey),
      headers: headers.length === 0 ? null : vault.seal(JSON.stringify(headers), about(projectId)),
    };
    await client.query(
      bound(
        row,
        at => `insert into judge_connections (project_id, ${Object.keys(at)}, updated_at)
          values ($1, ${Object.values(at)}, now())
          on conflict (project_id) do update set updated_at = excluded.updated_at,
            ${Object.keys(at).map(name => `${name} = excluded.${name}`)}`,
        [projectId],
      ),
    );
    // Read apart, as Citus returns no time as text of an insert.
    const { rows } = await client.query<Row>(
      `select ${columns} from judge_connections where project_id = $1`,
      [projectId],
    );
    return opened(vault, projectId, rows[0]!);
  });
}

export async function deleteJudgeConnection(db: Database, projectId: string): Promise<void> {
  await db.pool.query("delete from judge_connections where project_id = $1", [projectId]);
}

/** Null for a short key, of which four characters would reveal too much. */
function lastFourOf(apiKey: string): string | null {
  return apiKey.length >= 16 ? apiKey.slice(-4) : null;
}

function opened(
  vault: Vault,
  projectId: string,
  { apiKey: sealed, headers: sealedHeaders, keyLastFour, version, votes, ...row }: Row,
): StoredJudge {
  const apiKey = sealed === null ? null : vault.open(sealed, about(projectId));
  const headers = sealedHeaders === null ? null : vault.open(sealedHeaders, about(projectId));
  return {
    connection: {
      ...row,
      apiKey: apiKey ?? null,
      ...(headers == null ? {} : { headers: JSON.parse(headers) as JudgeHeader[] }),
      ...(votes ? { votes } : {}),
    },
    keyLastFour,
    keyUnreadable: apiKey === undefined || headers === undefined,
    version,
  };
}

function about(projectId: string): string {
  return `judge:${projectId.toLowerCase()}`;
}
