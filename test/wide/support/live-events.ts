// Server-sent events of a service, as text.
import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";

export type LiveEvents = { received(): string; close(): void };

export async function openLiveEvents(url: string, cookie: string): Promise<LiveEvents> {
  const outgoing = get(`${url}/api/events`, { agent: false, headers: { cookie } });
  const [response] = (await once(outgoing, "response")) as [IncomingMessage];
  let received = "";
  response.on("error", () => {}); // closed by the test
  response.setEncoding("utf8").on("data", text => {
    received += text;
  });
  return { received: () => received, close: () => outgoing.destroy() };
}
