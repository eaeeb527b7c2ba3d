// A client that posts traces one after the other over a single connection, as exporters do.
import { Agent, request } from "node:http";

export type KeepAliveClient = {
  /** The status of the answer; rejects where the connection broke before there was one. */
  post(body: Buffer, headers?: Record<string, string>): Promise<number>;
  close(): void;
};

export function keepAliveClient(url: string, key: string): KeepAliveClient {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return {
    post: (body, headers = {}) =>
      new Promise((resolve, reject) => {
        const outgoing = request(`${url}/public/traces`, {
          method: "POST",
          agent,
          headers: {
            "x-api-key": key,
            "content-type": "application/json",
            "content-length": body.length,
            ...headers,
          },
        });
        outgoing.on("error", reject);
        outgoing.on("response", response => {
          response.resume();
          response.on("error", reject);
          response.on("end", () => resolve(response.statusCode!));
        });
        outgoing.end(body);
      }),
    close: () => agent.destroy(),
  };
}
