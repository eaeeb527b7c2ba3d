// Runs the shop's test cases once at each start, against a shop assistant on this machine.
import type { Client } from "./client.ts";
import type { DemoProject } from "./project.ts";
import { connectionTo, isShopAssistant, openShopAssistant } from "./shop-assistant.ts";

type Launched = { testCount: number };
type Connected = { connection: { url?: string } | null };

/** Returns the number of tests that are running: 0 if the user connected the shop to another agent. */
export async function launchShop(url: string, { client, agents, apiKey }: DemoProject): Promise<number> {
  const shop = agents.find(({ otlpServiceName }) => otlpServiceName !== null)!;
  if (!(await isUnconnected(client, shop.id))) return 0;
  const assistantUrl = await openShopAssistant({ url, apiKey, serviceName: shop.otlpServiceName! });
  await client.send("PUT", `/api/agents/${shop.id}/connection`, connectionTo(assistantUrl));
  const launch = await client.send<Launched>("POST", `/api/agents/${shop.id}/launches`, { source: "api" });
  return launch.testCount;
}

/** False if the user has connected an agent of their own. */
async function isUnconnected(client: Client, agentId: string): Promise<boolean> {
  const { connection } = await client.get<Connected>(`/api/agents/${agentId}/connection`);
  return connection === null || isShopAssistant(connection.url ?? "");
}
