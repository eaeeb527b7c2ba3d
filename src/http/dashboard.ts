// Serves the built dashboard: hashed assets cached forever, and the page for every URL a person can open.
import { globSync } from "node:fs";
import { relative } from "node:path";
import fastifyStatic from "@fastify/static";
import type { FastifyReply, FastifyRequest } from "fastify";
import { Refusal } from "../model/refusal.ts";
import type { App } from "./frame/deps.ts";

/** Content-Security-Policy: nothing inline, nothing from other origins. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join("; ");

/** First path segments without pages: unknown URLs below them are answered 404 in JSON. Exporters append /v1. */
const reserved = new Set(["api", "public", "v1", "assets", "healthz", "readyz", "metrics"]);

export function registerDashboard(app: App, folder: string): void {
  // Neither dotfiles, which belong to the build, nor the compressed variants under their own names.
  const files = new Set(globSync("**/*.{html,js,css,svg}", { cwd: folder }).map(name => `/${name}`));
  if (files.size > 0) {
    app.register(fastifyStatic, {
      root: folder,
      serve: false,
      preCompressed: true,
      cacheControl: false,
      setHeaders(reply, path) {
        const isHashed = relative(folder, path).startsWith("assets");
        reply.header("cache-control", isHashed ? "public, max-age=31536000, immutable" : "no-cache");
        reply.header("content-security-policy", policy);
      },
    });
  }

  const options = {
    config: { access: "open" as const },
    schema: { hide: true },
    // @fastify/static sends the obsolete application/javascript.
    onSend: async (_request: unknown, reply: FastifyReply, payload: unknown) => {
      const type = String(reply.getHeader("content-type"));
      if (type.startsWith("application/javascript")) reply.type("text/javascript; charset=utf-8");
      return payload;
    },
  };
  const serve = async (request: FastifyRequest, reply: FastifyReply) => {
    const path = request.url.split("?", 1)[0]!;
    if (files.has(path)) return reply.sendFile(path);
    const looksLikeFile = path.split("/").at(-1)!.includes(".");
    if (looksLikeFile || reserved.has(path.split("/")[1]!)) return reply.callNotFound();
    if (files.has("/index.html")) return reply.sendFile("/index.html");
    if (path !== "/") return reply.callNotFound();
    throw new Refusal("NOT_FOUND", {
      message: "The dashboard is not built; the API works without it.",
      hint: "Run `npm run build` and restart. The API is described at /api/openapi.json.",
    });
  };
  app.get("/*", options, serve);
  // A path of its own too: the Allow header leaves out routes that match any path.
  app.get("/", options, serve);
}
