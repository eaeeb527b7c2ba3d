// Looks up keys and agents for ingestion, batched across concurrent requests.
import type { IngestDeps } from "../ingest.ts";
import {
  findAgentsByIds,
  findAgentsByServiceName,
  listAgentsOfKey,
  serviceKey,
} from "../store/accounts/agents.ts";
import { admitKeys } from "../store/accounts/keys.ts";
import { findStoringRules } from "../store/accounts/privacy.ts";
import type { Database } from "../store/db.ts";
import { gather } from "../store/ingestion/gather.ts";
import type { Vault } from "../store/secrets/vault.ts";

export function lookups(
  db: Database,
  vault: Vault,
): Pick<IngestDeps, "findKey" | "findStoring" | "findAgent" | "findAgentByServiceName" | "listAgentsOfKey"> {
  const findService = gather(
    async names =>
      findAgentsByServiceName(
        db,
        names.map(name => {
          const [projectId, ...serviceName] = name.split("\n");
          return { projectId: projectId!, serviceName: serviceName.join("\n") };
        }),
      ),
    { keep: () => true },
  );
  return {
    findKey: gather(
      hashes =>
        admitKeys(
          db,
          vault,
          hashes.map(hash => Buffer.from(hash, "hex")),
        ),
      // Not cached while unverified: a verified email must take effect immediately.
      { keep: key => key.emailVerified },
    ),
    findStoring: projectId => findStoringRules(db, vault, projectId),
    findAgent: gather(ids => findAgentsByIds(db, ids), { keep: () => true }),
    findAgentByServiceName: (projectId, serviceName) => findService(serviceKey(projectId, serviceName)),
    listAgentsOfKey: key => listAgentsOfKey(db, key),
  };
}
