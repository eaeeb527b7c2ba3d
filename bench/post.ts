// Sends one POST with node:http, as the OpenTelemetry exporters for Node do.
import { type Agent, request } from "node:http";

/** Resolves to the status after the response has been read. */
export function post(
  url: string,
  { agent, headers, body }: { agent: Agent; headers: Record<string, string>; body: Buffer },
): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      method: "POST",
      agent,
      headers: { ...headers, "content-length": body.length },
    });
    sent.on("response", answer => {
      answer.on("end", () => resolve(answer.statusCode!));
      answer.on("error", reject);
      answer.resume();
    });
    sent.on("error", reject);
    sent.end(body);
  });
}
