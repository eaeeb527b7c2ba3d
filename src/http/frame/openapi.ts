// /api/openapi.json: the OpenAPI description of the API, generated from the schemas that validate requests.
import swagger from "@fastify/swagger";
import type { RouteOptions } from "fastify";
import { jsonSchemaTransform, jsonSchemaTransformObject } from "fastify-type-provider-zod";
import { z } from "zod";
import { refusals } from "../../model/refusals.ts";
import type { App } from "./deps.ts";
import { cookiePrefixOf } from "./session.ts";

export const ErrorReply = z
  .object({
    code: z.enum(Object.keys(refusals) as [string, ...string[]]),
    message: z.string(),
    hint: z.string().optional(),
    issues: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
    requestId: z.string(),
  })
  .meta({ id: "Error" });

/** Describes the routes that are added after this call. */
export async function registerOpenapi(app: App, baseUrl: string): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: { title: "Onlooker", version: "1", description: "Traces in, verdicts out." },
      components: {
        securitySchemes: {
          session: { type: "apiKey", in: "cookie", name: `${cookiePrefixOf(baseUrl)}.session_token` },
          token: {
            type: "http",
            scheme: "bearer",
            description: "An access token: reads data and runs tests.",
          },
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
    transformObject: document =>
      describeProtobuf(markOptionalBodies(nameSchemas(jsonSchemaTransformObject(document)))),
  });

  app.get("/api/openapi.json", { config: { access: "open" }, schema: { hide: true } }, async () =>
    app.swagger(),
  );
}

/** Undefined: the route's own setting, or by default a session. */
function securityOf({ config }: RouteOptions): Record<string, string[]>[] | undefined {
  const { access } = config!;
  if (access === "open") return [];
  return access.endsWith("tokens") ? [{ session: [] }, { token: [] }] : undefined;
}

/**
 * Leaves out schemas that nothing refers to: the library describes each twice, as a request and as a response. Removes
 * the ending "Input" of schemas that are only used in requests.
 */
function nameSchemas<D extends object>(document: D): D {
  const { paths, components } = document as {
    paths: object;
    components: { schemas: Record<string, object> };
  };
  const { schemas } = components;
  const used = new Set<string>();
  const follow = (part: object): void => {
    for (const [, name] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (used.has(name!)) continue;
      used.add(name!);
      follow(schemas[name!]!);
    }
  };
  follow(paths);
  const nameOf = (name: string) => {
    const plain = name.replace(/Input$/, "");
    return used.has(plain) ? name : plain;
  };
  const names = Object.keys(schemas).filter(name => used.has(name));
  components.schemas = Object.fromEntries(names.map(name => [nameOf(name), schemas[name]!]));
  return JSON.parse(JSON.stringify(document), (key, value) => {
    if (key !== "$ref" || typeof value !== "string") return value;
    const [path, name] = [
      value.slice(0, value.lastIndexOf("/") + 1),
      value.slice(value.lastIndexOf("/") + 1),
    ];
    return `${path}${nameOf(name)}`;
  });
}

type Content = Record<string, { schema?: { anyOf?: { type?: string }[] } }>;
type Body = { required?: boolean; content: Content };
type Operation = { requestBody?: Body; responses: Record<string, { content?: Content }> };
type Paths = Record<string, Record<string, Operation>>;

/** Marks nullable bodies as optional: the library describes every body as required. */
function markOptionalBodies<D extends object>(document: D): D {
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
 * Removes the schemas of protobuf bodies, which no JSON Schema describes: the library gives every media type of a route
 * the same schema. Also removes protobuf from 201, which only canonical traces get.
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
