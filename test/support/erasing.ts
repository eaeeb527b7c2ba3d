// Starts dry runs and erasures over HTTP, and waits for their end.
import type { ErasureDetail } from "../../src/http/projects/erasure-schemas.ts";
import type { Client } from "./client.ts";
import { eventually } from "./eventually.ts";

export type Erasing = { client: Client; projectId: string };

/** Resolves once it has ended, however. */
export async function startErasure({ client, projectId }: Erasing, body: object): Promise<ErasureDetail> {
  const { body: begun } = await client.post(`/api/projects/${projectId}/erasures`, body).expect(202);
  return endOfErasure({ client }, begun.id);
}

function endOfErasure({ client }: Pick<Erasing, "client">, id: string): Promise<ErasureDetail> {
  return eventually(async () => {
    const body = await client.read(`/api/erasures/${id}`);
    if (body.state === "running") throw new Error(`still running: ${JSON.stringify(body)}`);
    return body as ErasureDetail;
  });
}

/** A dry run, then the erasure of what it found. */
export async function eraseAll(
  erasing: Erasing,
  criterion: object,
): Promise<{ dryRun: ErasureDetail; erasure: ErasureDetail }> {
  const dryRun = await startErasure(erasing, { ...criterion, dryRun: true });
  const erasure = await startErasure(erasing, { ...criterion, confirm: dryRun.matched });
  return { dryRun, erasure };
}
