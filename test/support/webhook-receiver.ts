// A local webhook receiver that verifies signatures with the library of Standard Webhooks.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";
import type { AlertMessage } from "../../src/model/alert/alert.ts";

export type ReceivedWebhook = {
  /** Its webhook-id. */
  id: string;
  message: AlertMessage;
  body: string;
  headers: Record<string, string>;
};

export type WebhookReceiver = {
  url: string;
  /** Requests with a valid signature. */
  received: ReceivedWebhook[];
  /** Why each of the others was not valid. */
  invalid: string[];
  /** Signs the requests that are accepted. */
  secret: string;
  /** The status of its answers to valid requests; 0: it never answers. */
  status: number;
  headers: Record<string, string>;
  close(): Promise<void>;
};

export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const headers = request.headers as Record<string, string>;
    try {
      const message = new Webhook(receiver.secret).verify(body, headers) as AlertMessage;
      receiver.received.push({ id: headers["webhook-id"]!, message, body, headers });
    } catch (error) {
      receiver.invalid.push((error as Error).message);
      response.writeHead(401).end();
      return;
    }
    if (receiver.status !== 0) response.writeHead(receiver.status, receiver.headers).end("thanks");
  });
  await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const receiver: WebhookReceiver = {
    url: `http://127.0.0.1:${port}/hooks/T0P-SECRET-PATH`,
    received: [],
    invalid: [],
    secret: "",
    status: 204,
    headers: {},
    async close() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
  return receiver;
}
