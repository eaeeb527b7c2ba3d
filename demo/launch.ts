// Has the shop's test cases run once by hand at each start, with the shop assistant of this machine.
import type { Client } from "./client.ts";
import type { DemoProject } from "./project.ts";
import { connectionTo, isShopAssistant, openShopAssistant } from "./shop-assistant.ts";

type Launched = { testCount: number };
type Connected = { connection: { url?: string } | null };

/** Returns how many test cases are being run: none where the shop was connected to something else. */
export async function launchShop(url: string, { client, agents, apiKey }: DemoProject): Promise<number> {
  const shop = agents.find(({ otlpServiceName }) => otlpServiceName !== null)!;
  if (!(await isOurs(client, shop.id))) return 0;
  const address = await openShopAssistant({ url, apiKey, serviceName: shop.otlpServiceName! });
  await client.send("PUT", `/api/agents/${shop.id}/connection`, connectionTo(address));
  const launch = await client.send<Launched>("POST", `/api/agents/${shop.id}/launches`, { source: "api" });
  return launch.testCount;
}

/** Whoever tries the demo may have connected an agent of their own. */
async function isOurs(client: Client, agentId: string): Promise<boolean> {
  const { connection } = await client.get<Connected>(`/api/agents/${agentId}/connection`);
  return connection === null || isShopAssistant(connection.url ?? "");
}
