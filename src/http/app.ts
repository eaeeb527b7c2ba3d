// Builds the HTTP server: all routes, with shared limits, headers and error responses.
import Fastify, { type FastifyReply, type FastifyRequest, LogController } from "fastify";
import { serializerCompiler, type ZodTypeProvider } from "fastify-type-provider-zod";
import { Refusal } from "../model/refusal.ts";
import { countRefusedBody } from "./accounts/attempt-limits.ts";
import { openAuth } from "./accounts/auth.ts";
import { openBackground } from "./frame/background.ts";
import { openBytesMax, readBodies } from "./frame/bodies.ts";
import { readClients } from "./frame/client-ip.ts";
import type { App, Deps, Register } from "./frame/deps.ts";
import { drainBeforeRefusing } from "./frame/drain.ts";
import { checkHeaders, uncheckedHost } from "./frame/header-checks.ts";
import { refuse } from "./frame/refuse.ts";
import { requestLog } from "./frame/request-log.ts";
import { type Route, watchRoutes } from "./frame/route-table.ts";
import { validate } from "./frame/validate.ts";
import { registerHealth } from "./health.ts";
import { answerRefusal, isIngestion, senderOf } from "./ingestion/answer-refusal.ts";
import { registerBase } from "./routes.ts";
import { identify, refuseTunnels, refuseUnreadable, wrongMethod } from "./unreadable.ts";

declare module "fastify" {
  interface FastifyInstance {
    /** Every route, for tests that must cover all of them. */
    routeTable: Route[];
  }
}

/**
 * The server, ready to listen; the database must be migrated. `close` stops accepting connections, and waits for open
 * requests and emails. `more` adds routes that need further dependencies.
 */
export async function buildApp<D extends Deps>(deps: D, more: Register<D>[] = []): Promise<App> {
  const app: App = Fastify({
    loggerInstance: deps.log,
    childLoggerFactory: requestLog,
    logController: new LogController({ disableRequestLogging: true }),
    // Never taken from the client: its x-request-id is the identity of a trace.
    genReqId: identify,
    bodyLimit: openBytesMax,
    // A span's id may be any text.
    routerOptions: { maxParamLength: 2_000 },
    // A body of 1 MB may come at 9 kB/s; larger ones have a minimum rate of their own.
    requestTimeout: 120_000,
    keepAliveTimeout: 72_000,
    http: { headersTimeout: 10_000, connectionsCheckingInterval: 2_000, ...uncheckedHost },
    forceCloseConnections: "idle",
    return503OnClosing: false,
    clientErrorHandler: (error, socket) => refuseUnreadable(error, socket, path => methodsAt(path)),
    // A request target may be a whole URL, as proxies are sent it.
    rewriteUrl: ({ url = "" }) => url.replace(/^https?:\/\/[^/?]*\/?/i, "/"),
    frameworkErrors: (error, request, reply) => {
      reply.headers(headersFor(request.url, deps.config.baseUrl));
      answerError(error, request, reply);
    },
  }).withTypeProvider<ZodTypeProvider>();
  app.setValidatorCompiler(validate);
  app.setSerializerCompiler(serializerCompiler);
  app.setErrorHandler(async (error, request, reply) => {
    answerError(await countRefusedBody(deps, request, error), request, reply);
    return reply;
  });
  readBodies(app, deps);
  drainBeforeRefusing(app);
  checkHeaders(app);
  readClients(app, {
    trusted: deps.config.trustedProxies ?? [],
    header: deps.config.forwardedHeader ?? "x-forwarded-for",
  });

  const { routes, methodsAt } = watchRoutes(app);
  app.decorate("routeTable", routes);
  refuseTunnels(app);
  app.addHook("onRequest", async (request, reply) => {
    reply.headers(headersFor(request.url, deps.config.baseUrl));
  });
  const refuseUnknown = (request: FastifyRequest, reply: FastifyReply): never => {
    const path = request.url.split("?", 1)[0]!;
    const methods = methodsAt(path);
    // A path parameter that is too long matches no route, although the method is right.
    if (methods.length === 0 || methods.includes(request.method)) throw new Refusal("NOT_FOUND");
    reply.header("allow", methods.join(", "));
    throw wrongMethod(path, methods);
  };
  // Before the body is read: no body changes what is not there.
  app.addHook("onRequest", async (request, reply) => {
    if (request.is404) refuseUnknown(request, reply);
  });
  // For the dashboard, which answers GET at any path.
  app.setNotFoundHandler(refuseUnknown);

  const background = openBackground(deps.log);
  app.addHook("onClose", () => background.settled());
  const auth = await openAuth(deps, background);
  await registerBase(app, deps, auth, background);
  for (const register of more) await register(app, deps);
  return app;
}

/** The server of a process that only evaluates: health and metrics. */
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

function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  if (isIngestion(senderOf(request.raw))) answerRefusal(request, reply, error);
  else refuse(error, request, reply);
}

function headersFor(url: string, baseUrl: string): Record<string, string> {
  return {
    ...(baseUrl.startsWith("https:") && { "strict-transport-security": "max-age=31536000" }),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    ...(url.startsWith("/api/") && { "cache-control": "no-store" }),
  };
}
