// Connects the shop to an assistant on this machine, and runs its test cases against it.
import type { Client } from "./client.ts";
import type { DemoProject } from "./project.ts";
import { connectionTo, isShopAssistant, openShopAssistant } from "./shop-assistant.ts";

type Launched = { testCount: number };
type Connected = { connection: { url?: string } | null };

/** Returns the number of tests that are running: 0 if the user connected the shop to another agent. */
export async function launchShop(url: string, project: DemoProject): Promise<number> {
  const shopId = await connectShop(url, project);
  if (shopId === undefined) return 0;
  const path = `/api/agents/${shopId}/launches`;
  return (await project.client.send<Launched>("POST", path, { source: "api" })).testCount;
}

/** Returns the id of the shop; undefined if the user connected it to another agent. */
export async function connectShop(
  url: string,
  { client, agents, apiKey }: DemoProject,
): Promise<string | undefined> {
  const shop = agents.find(({ otlpServiceName }) => otlpServiceName !== null)!;
  if (!(await isUnconnected(client, shop.id))) return undefined;
  const assistantUrl = await openShopAssistant({ url, apiKey, serviceName: shop.otlpServiceName! });
  await client.send("PUT", `/api/agents/${shop.id}/connection`, connectionTo(assistantUrl));
  return shop.id;
}

/** False if the user has connected an agent of their own. */
async function isUnconnected(client: Client, agentId: string): Promise<boolean> {
  const { connection } = await client.get<Connected>(`/api/agents/${agentId}/connection`);
  return connection === null || isShopAssistant(connection.url ?? "");
}
