// /api/openapi.json: the description of every address, made from the schemas that requests are checked against.
import swagger from "@fastify/swagger";
import type { RouteOptions } from "fastify";
import { jsonSchemaTransform, jsonSchemaTransformObject } from "fastify-type-provider-zod";
import { z } from "zod";
import { refusals } from "../model/refusal.ts";
import type { App } from "./deps.ts";
import { admitsTokens } from "./session.ts";

const ErrorReply = z
  .object({
    code: z.enum(Object.keys(refusals) as [string, ...string[]]),
    message: z.string(),
    hint: z.string().optional(),
    issues: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
    requestId: z.string(),
  })
  .meta({ id: "Error" });

/** Describes the routes that are added from now on. */
export async function registerOpenapi(app: App, baseUrl: string): Promise<void> {
  // Browsers keep a cookie of this name only over https.
  const prefix = new URL(baseUrl).protocol === "https:" ? "__Secure-" : "";
  await app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: { title: "Onlooker", version: "1", description: "Traces in, verdicts out." },
      components: {
        securitySchemes: {
          session: { type: "apiKey", in: "cookie", name: `${prefix}svc.session_token` },
          token: { type: "http", scheme: "bearer", description: "An access token: reads, and runs tests." },
          key: { type: "apiKey", in: "header", name: "x-api-key" },
        },
      },
      security: [{ session: [] }],
    },
    transform: document => {
      const { schema, route } = document;
      const response = { ...(schema?.response as object), default: ErrorReply };
      const transformed = jsonSchemaTransform({ ...document, schema: { ...schema, response } });
      const security = securityOf(route);
      return security ? { ...transformed, schema: { ...transformed.schema, security } } : transformed;
    },
    transformObject: document => describeProtobuf(letOptionalBodies(jsonSchemaTransformObject(document))),
  });

  app.get("/api/openapi.json", { config: { open: true }, schema: { hide: true } }, async () => app.swagger());
}

/** Undefined: what the route says itself, else a session. */
function securityOf(route: RouteOptions): Record<string, string[]>[] | undefined {
  if (route.config?.open === true) return [];
  const isApi = route.url.startsWith("/api/");
  return isApi && admitsTokens(route) ? [{ session: [] }, { token: [] }] : undefined;
}

type Content = Record<string, { schema?: { anyOf?: { type?: string }[] } }>;
type Body = { required?: boolean; content: Content };
type Operation = { requestBody?: Body; responses: Record<string, { content?: Content }> };
type Paths = Record<string, Record<string, Operation>>;

/** A body that may be null may be left out, where the library calls every body required. */
function letOptionalBodies<D extends object>(document: D): D {
  const { paths } = document as { paths: Paths };
  for (const { requestBody } of Object.values(paths).flatMap(path => Object.values(path))) {
    if (!requestBody) continue;
    const schemas = Object.values(requestBody.content).map(({ schema }) => schema);
    if (schemas.every(schema => schema?.anyOf?.some(({ type }) => type === "null"))) {
      requestBody.required = false;
    }
  }
  return document;
}

/**
 * The library gives every media type of an address the same schema. Protobuf is bytes, which no JSON schema describes;
 * what is sent so is never answered with 201, which is the canonical format's.
 */
function describeProtobuf<D extends object>(document: D): D {
  const { paths } = document as { paths: Paths };
  for (const { requestBody, responses } of Object.values(paths).flatMap(path => Object.values(path))) {
    delete responses["201"]?.content?.[protobuf];
    for (const { content } of [requestBody, ...Object.values(responses)].filter(part => part !== undefined)) {
      if (content?.[protobuf]) content[protobuf] = {};
    }
  }
  return document;
}

const protobuf = "application/x-protobuf";
