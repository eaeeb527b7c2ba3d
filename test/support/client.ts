// A client of the API: speaks JSON, keeps the session cookie, and checks what is answered against the route's schema.
import assert from "node:assert/strict";
import type { z } from "zod";
import { ErrorReply } from "../../src/http/frame/openapi.ts";
import { type AnswerOf, answerSchema, type Method } from "./answers.ts";

export type Refused = z.output<typeof ErrorReply>;

/** `body` is the reply's JSON, or its text. */
export type Reply<Body> = { status: number; headers: Headers; body: Body };

/** A pending reply; `expect` turns any other status into an error that shows the body. */
export type Pending<T> = Promise<Reply<T>> & {
  expect<S extends number>(status: S): Promise<Reply<BodyOf<S, T>>>;
};

type BodyOf<S extends number, T> = `${S}` extends `4${string}` | `5${string}` ? Refused : T;

type Send<M extends Method> = <P extends string>(path: P, body?: unknown) => Pending<AnswerOf<M, P>>;

export type Client = {
  /** The session cookie, as a browser would send it; empty without a session. */
  cookie: string;
  request<M extends string, P extends string>(
    method: M,
    path: P,
    body?: unknown,
    headers?: Record<string, string>,
  ): Pending<M extends Method ? AnswerOf<M, P> : unknown>;
  get: Send<"GET">;
  post: Send<"POST">;
  put: Send<"PUT">;
  patch: Send<"PATCH">;
  delete: Send<"DELETE">;
  /** What the path answers with status 200. */
  read<P extends string>(path: P): Promise<AnswerOf<"GET", P>>;
  /** What a POST answers with status 201. */
  create<P extends string>(path: P, body?: object): Promise<AnswerOf<"POST", P>>;
};

export function newClient(url: string): Client {
  const client: Client = {
    cookie: "",
    request: (method, path, body, headers) => pending(send(method, path, body, headers)),
    get: path => client.request("GET", path),
    post: (path, body) => client.request("POST", path, body),
    put: (path, body) => client.request("PUT", path, body),
    patch: (path, body) => client.request("PATCH", path, body),
    delete: path => client.request("DELETE", path),
    read: async path => (await client.get(path).expect(200)).body,
    create: async (path, body) => (await client.post(path, body).expect(201)).body,
  };
  async function send<T>(method: string, path: string, body?: unknown, headers = {}): Promise<Reply<T>> {
    const response = await fetch(url + path, {
      method,
      redirect: "manual",
      headers: {
        ...(client.cookie && { cookie: client.cookie }),
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [pair = ""] = cookie.split(";", 1);
      if (pair.includes("session_token=")) client.cookie = /max-age=0/i.test(cookie) ? "" : pair;
    }
    const text = await response.text();
    const isJson = /^application\/json(;|$)/.test(response.headers.get("content-type") ?? "");
    const answered = isJson && text ? JSON.parse(text) : text;
    if (response.ok && isJson) assertShape(method, path, answered);
    return { status: response.status, headers: response.headers, body: answered };
  }
  return client;
}

/** What a reply refuses with. */
export function refusalIn({ status, body }: Reply<unknown>): Refused {
  assert.ok(status >= 400, `Answered ${status}: ${JSON.stringify(body)}`);
  return ErrorReply.parse(body);
}

/** Fails where the service answers anything but what the route's schema says. */
export function assertShape(method: string, path: string, answered: unknown): void {
  const { error } = answerSchema(method, path)?.safeParse(answered) ?? {};
  assert.equal(error, undefined, `${method} ${path} answered another shape: ${error?.message}`);
}

function pending<T>(reply: Promise<Reply<T>>): Pending<T> {
  return Object.assign(reply, {
    async expect<S extends number>(status: S): Promise<Reply<BodyOf<S, T>>> {
      const { body, ...rest } = await reply;
      if (rest.status === status) return { body: body as BodyOf<S, T>, ...rest };
      throw new Error(`Answered ${rest.status} instead of ${status}: ${JSON.stringify(body)}`);
    },
  });
}
