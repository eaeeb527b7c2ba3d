// /api/openapi.json: the description of every address, made from the schemas that requests are checked against.
import swagger from "@fastify/swagger";
import { jsonSchemaTransform, jsonSchemaTransformObject } from "fastify-type-provider-zod";
import { z } from "zod";
import { refusals } from "../model/refusal.ts";
import type { App } from "./deps.ts";

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
export async function registerOpenapi(app: App): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: { title: "Onlooker", version: "1", description: "Traces in, verdicts out." },
      components: {
        securitySchemes: {
          session: { type: "apiKey", in: "cookie", name: "svc.session_token" },
          key: { type: "apiKey", in: "header", name: "x-api-key" },
        },
      },
      security: [{ session: [] }],
    },
    transform: document => {
      const { schema, route } = document;
      const response = { ...(schema?.response as object), default: ErrorReply };
      const transformed = jsonSchemaTransform({ ...document, schema: { ...schema, response } });
      const open = route.config?.open === true;
      return open ? { ...transformed, schema: { ...transformed.schema, security: [] } } : transformed;
    },
    transformObject: jsonSchemaTransformObject,
  });

  app.get("/api/openapi.json", { config: { open: true }, schema: { hide: true } }, async () => app.swagger());
}
