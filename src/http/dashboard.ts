// The dashboard's files: read once at the start, sent compressed, hashed ones cached for good.
import { createHash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import type { FastifyReply, FastifyRequest } from "fastify";
import { Refusal } from "../model/refusal.ts";
import type { App } from "./deps.ts";

/** Nothing inline, nothing from elsewhere. */
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

const types: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** First steps of addresses that are no pages of the dashboard: there, what is not found is told in JSON. */
const reserved = new Set(["api", "public", "assets", "healthz", "readyz", "metrics"]);

type File = { type: string; tag: string; immutable: boolean; bytes: Record<Encoding, Buffer> };
type Encoding = "br" | "gzip" | "identity";

/** Serves what `folder` holds, and the dashboard's page at every other address a person could open. */
export function registerDashboard(app: App, folder: string): void {
  const files = readFiles(folder);
  const page = files.get("/index.html");

  app.get("/*", { schema: { hide: true } }, async (request, reply) => {
    const path = request.url.split("?", 1)[0]!;
    const file = files.get(path);
    if (file) return send(file, request, reply);
    const looksLikeFile = path.split("/").at(-1)!.includes(".");
    if (looksLikeFile || reserved.has(path.split("/")[1]!)) return reply.callNotFound();
    if (page) return send(page, request, reply);
    if (path !== "/") return reply.callNotFound();
    throw new Refusal("NOT_FOUND", {
      message: "The dashboard is not built here; the API works without it.",
      hint: "Build it with `npm run build` and start again. The API is described at /api/openapi.json.",
    });
  });
}

function readFiles(folder: string): Map<string, File> {
  // Neither dotfiles, which are the build's own, nor the compressed forms by themselves.
  const names = globSync("**/*.{html,js,css,svg}", { cwd: folder });
  return new Map(
    names.map(name => {
      const read = (suffix = "") => readFileSync(join(folder, name + suffix));
      const bytes = { identity: read(), gzip: read(".gz"), br: read(".br") };
      const tag = `"${createHash("sha256").update(bytes.identity).digest("base64url").slice(0, 22)}"`;
      return [`/${name}`, { type: types[extname(name)]!, tag, immutable: name.startsWith("assets/"), bytes }];
    }),
  );
}

function send(file: File, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.headers({
    "content-security-policy": policy,
    "cache-control": file.immutable ? "public, max-age=31536000, immutable" : "no-cache",
    etag: file.tag,
    vary: "accept-encoding",
  });
  if (request.headers["if-none-match"] === file.tag) return reply.code(304).send();
  const encoding = encodingFor(request.headers["accept-encoding"]);
  if (encoding !== "identity") reply.header("content-encoding", encoding);
  return reply.type(file.type).send(file.bytes[encoding]);
}

/** The smallest form that the client names without refusing it. */
function encodingFor(accepted = ""): Encoding {
  const named = accepted
    .split(",")
    .map(part => part.split(";").map(piece => piece.trim().toLowerCase()))
    .filter(([, quality = ""]) => !/^q=0(\.0*)?$/.test(quality))
    .map(([name]) => name);
  return (["br", "gzip"] as const).find(encoding => named.includes(encoding)) ?? "identity";
}
