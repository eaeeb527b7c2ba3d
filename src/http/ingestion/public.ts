// The public ingestion endpoints, /public/traces and /public/logs, in all formats and encodings, and the paths sent to by mistake.
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { LogsDeps } from "../../ingest/logs.ts";
import type { IngestDeps, IngestRequest } from "../../ingest.ts";
import { refusedWhole } from "../../model/ingestion.ts";
import { hashKey } from "../../model/key.ts";
import type { Refusal } from "../../model/refusal.ts";
import type { Deps } from "../frame/deps.ts";
import { answerRefusal, isIngestion, senderOf } from "./answer-refusal.ts";
import { openReceiving, receive } from "./public-endpoint.ts";
import { receiveLogs } from "./public-logs.ts";
import { publicLogsSchema } from "./public-logs-schema.ts";
import { receiveTraces } from "./public-traces.ts";
import { publicTracesSchema } from "./public-traces-schema.ts";
import { wrongPath, wrongPaths } from "./wrong-paths.ts";

export type PublicDeps = Pick<Deps, "config" | "db" | "limitAccounts" | "machine"> & {
  ingest: IngestDeps;
  ingestLogs: LogsDeps;
};

type Endpoint = {
  url: string;
  schema: object;
  ingest: (request: FastifyRequest, reply: FastifyReply, given: IngestRequest) => Promise<void>;
};

/**
 * Registers the endpoints. They respond in `onRequest`, before Fastify reads the body or its type, so that the key is
 * checked first, from the headers alone. The hooks take a callback and do not call it: after a promise, Fastify would
 * continue with requests whose client disconnected before the response was sent.
 */
export function registerPublic(app: FastifyInstance, deps: PublicDeps): void {
  const receiving = openReceiving(deps);
  const endpoints: Endpoint[] = [
    {
      url: "/public/traces",
      schema: publicTracesSchema,
      ingest: (request, reply, given) => receiveTraces(deps.ingest, request, reply, given),
    },
    {
      url: "/public/logs",
      schema: publicLogsSchema,
      ingest: (request, reply, given) => receiveLogs(deps.ingestLogs, request, reply, given),
    },
  ];
  // Node would send "100 Continue" immediately. Here the reader sends it, after the key has been checked.
  app.server.on("checkContinue", (request, response) => {
    if (!isIngestion(senderOf(request))) response.writeContinue();
    app.server.emit("request", request, response);
  });
  for (const { url, schema, ingest } of endpoints) {
    for (const path of [url, `${url}/`]) {
      app.post(path, {
        config: { access: "key" },
        schema: path === url ? schema : { hide: true },
        onRequest: (request, reply, next) =>
          void receive(receiving, request, reply, given => ingest(request, reply, given)).catch(next),
        handler: () => {},
      });
    }
  }
  for (const url of wrongPaths) {
    app.post(url, {
      config: { access: "open" },
      schema: { hide: true },
      onRequest: (request, reply, next) => void refuseWrongPath(deps, request, reply).catch(next),
      handler: () => {},
    });
  }
}

async function refuseWrongPath(
  { ingest }: PublicDeps,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const refusal = wrongPath(request.url);
  await report(ingest, request, refusal);
  answerRefusal(request, reply, refusal);
}

/** Enters a request to a wrong path in the ingestion log of its key's project. */
async function report({ findKey, onAnswered }: IngestDeps, request: FastifyRequest, refusal: Refusal) {
  const text = request.headers["x-api-key"];
  if (typeof text !== "string" || text === "") return;
  // The answer is the same without the log, such as while the database is down.
  const key = await findKey(hashKey(text).toString("hex")).catch(() => undefined);
  if (key) onAnswered([refusedWhole(refusal, request.id)], key);
}
