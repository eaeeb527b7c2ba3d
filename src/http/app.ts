// The HTTP server: every route, behind one set of limits, headers and error replies.
import { randomUUID } from "node:crypto";
import type { Socket } from "node:net";
import Fastify, { LogController } from "fastify";
import { serializerCompiler, type ZodTypeProvider } from "fastify-type-provider-zod";
import { Refusal } from "../model/refusal.ts";
import { openAuth } from "./accounts/auth.ts";
import { openBackground } from "./background.ts";
import type { App, Deps, Register } from "./deps.ts";
import { registerHealth } from "./health.ts";
import { readJson } from "./read-json.ts";
import { refusalBody, refuse } from "./refuse.ts";
import { type Route, watchRoutes } from "./route-table.ts";
import { registerBase } from "./routes.ts";
import { validate } from "./validate.ts";

declare module "fastify" {
  interface FastifyInstance {
    /** Every route, for tests that must leave none out. */
    routeTable: Route[];
  }
}

/**
 * The server, ready to listen; the database must be migrated. `close` stops taking connections, lets requests in
 * hand finish and waits for mails under way. `more` adds routes of rooms that need further dependencies.
 */
export async function buildApp<D extends Deps>(deps: D, more: Register<D>[] = []): Promise<App> {
  const app: App = Fastify({
    loggerInstance: deps.log,
    logController: new LogController({ disableRequestLogging: true }),
    // Never the client's: x-request-id names a trace here.
    genReqId: () => randomUUID(),
    bodyLimit: 1_048_576,
    // A span's id may be any text.
    routerOptions: { maxParamLength: 2_000 },
    requestTimeout: 60_000,
    keepAliveTimeout: 72_000,
    http: { headersTimeout: 10_000, connectionsCheckingInterval: 2_000 },
    forceCloseConnections: "idle",
    return503OnClosing: false,
    clientErrorHandler: refuseUnreadable,
    frameworkErrors: (error, request, reply) => {
      reply.headers(headersFor(request.url));
      refuse(error, request, reply);
    },
  }).withTypeProvider<ZodTypeProvider>();
  app.setValidatorCompiler(validate);
  app.setSerializerCompiler(serializerCompiler);
  app.setErrorHandler(refuse);
  readJson(app);

  const { routes, methodsAt } = watchRoutes(app);
  app.decorate("routeTable", routes);
  app.addHook("onRequest", async (request, reply) => {
    reply.headers(headersFor(request.url));
  });
  app.setNotFoundHandler((request, reply) => {
    const methods = methodsAt(request.url.split("?", 1)[0]!);
    // Answered, but not here: an id far too long for one reaches no route of its address.
    if (methods.length === 0 || methods.includes(request.method)) throw new Refusal("NOT_FOUND");
    reply.header("allow", methods.join(", "));
    throw new Refusal("METHOD_NOT_ALLOWED");
  });

  const background = openBackground(deps.log);
  app.addHook("onClose", () => background.settled());
  const auth = await openAuth(deps, background);
  await registerBase(app, deps, auth, background);
  for (const register of more) await register(app, deps);
  return app;
}

/** What a process that only evaluates answers: whether it lives, can work, and how it has worked. */
export async function buildHealthApp({ db, log }: Pick<Deps, "db" | "log">): Promise<App> {
  const app: App = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    forceCloseConnections: "idle",
  }).withTypeProvider<ZodTypeProvider>();
  app.setErrorHandler(refuse);
  app.setNotFoundHandler(() => {
    throw new Refusal("NOT_FOUND", { hint: "This process only evaluates: SVC_ROLES has no http." });
  });
  registerHealth(app, { db });
  return app;
}

function headersFor(url: string): Record<string, string> {
  return {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    ...(url.startsWith("/api/") && { "cache-control": "no-store" }),
  };
}

/** What is no HTTP, or came too slowly, has no request to answer: the reply goes to the socket itself. */
function refuseUnreadable(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, message] =
    error.code === "ERR_HTTP_REQUEST_TIMEOUT"
      ? ["408 Request Timeout", "The request took too long to arrive."]
      : error.code === "HPE_HEADER_OVERFLOW"
        ? ["431 Request Header Fields Too Large", "The request's headers are too large."]
        : ["400 Bad Request", "The request is not valid HTTP."];
  const body = JSON.stringify(refusalBody(new Refusal("VALIDATION_ERROR", { message }), randomUUID()));
  socket.end(
    `HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
