// Registers routes of the API: each says in one place who may call it, what it takes, what it answers, and how.
import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import type { Account } from "../../model/account.ts";
import type { QuotaNoun } from "../../model/quotas.ts";
import type { Access } from "./access.ts";
import type { App } from "./deps.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** What the route creates one of: an account may have so many. */
    creates?: QuotaNoun;
    /** It waits for a judge or an agent, with a limit of its own on such calls. */
    waits?: boolean;
  }
}

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

type ParamsOf<Path> = Path extends `${string}/:${infer Name}/${infer Rest}`
  ? Name | ParamsOf<`/${Rest}`>
  : Path extends `${string}/:${infer Name}`
    ? Name
    : never;

/** The parameters of the path by name, and the rest of the request as its schemas read it. */
type Call<Path, Query, Body, Who> = { [Name in ParamsOf<Path>]: string } & {
  query: z.output<Query>;
  body: z.output<Body>;
  account: Who extends "open" ? null : Account;
  request: FastifyRequest;
  reply: FastifyReply;
};

/** An answer that is sent as bytes or as a stream. */
type Media = { description: string; content: Record<string, { schema: z.ZodType }> };

/** What a handler returns: when it is sent, dates become text, and fields that the schema does not have are dropped. */
type Returned<Answer> = Answer extends z.ZodType
  ? z.input<Answer> | Promise<z.input<Answer>>
  : Promise<Answer extends Media ? FastifyReply : void>;

type Route<Path, Query, Body, Answer, Who> = {
  access: Who;
  creates?: QuotaNoun;
  waits?: boolean;
  /** How large a body may be, where it may be larger than others. */
  bytesMax?: number;
  summary: string;
  description?: string;
  query?: Query;
  body?: Body;
  /** Default: 200. */
  status?: 201 | 202;
  /** None: 204, without a body. */
  answer?: Answer;
  handler: (call: Call<Path, Query, Body, Who>) => Returned<NoInfer<Answer>>;
};

/** The function that adds routes with this tag, as in `route("GET /api/projects/:id", …)`. */
export function routesOf(app: App, tag: string) {
  return function route<
    const Path extends `${Method} /${string}`,
    const Who extends Access,
    Query extends z.ZodType = z.ZodUndefined,
    Body extends z.ZodType = z.ZodUndefined,
    Answer extends z.ZodType | Media | undefined = undefined,
  >(path: Path, options: Route<Path, Query, Body, Answer, Who>): void {
    const { access, creates, waits, bytesMax, summary, description } = options;
    const { query, body, answer, handler } = options;
    const [method, url] = path.split(" ") as [Method, string];
    const names = [...url.matchAll(/:(\w+)/g)].map(([, name]) => [name, z.string()] as const);
    const status = answer ? (options.status ?? 200) : 204;
    app.route({
      method,
      url,
      config: { access, ...(creates && { creates }), ...(waits && { waits }) },
      ...(bytesMax !== undefined && { bodyLimit: bytesMax }),
      schema: {
        tags: [tag],
        summary,
        ...(description !== undefined && { description }),
        ...(names.length > 0 && { params: z.object(Object.fromEntries(names)) }),
        ...(query && { querystring: query }),
        ...(body && { body }),
        response: { [status]: answer ?? z.undefined() },
      },
      handler(request, reply) {
        const { params, query, body, account } = request;
        const call = { ...(params as object), query, body, account, request, reply };
        reply.code(status);
        return handler(call as unknown as Call<Path, Query, Body, Who>) as never;
      },
    });
  };
}

/** Aborted once the answer is sent or the client has disconnected. */
export function untilClosed({ raw }: FastifyReply): AbortSignal {
  const closed = new AbortController();
  raw.once("close", () => closed.abort());
  // The client may have disconnected while its session was looked up.
  if (raw.destroyed) closed.abort();
  return closed.signal;
}
