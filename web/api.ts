// Calls the API. Errors and network failures are returned as values; only `read`, for queries, throws them.
import type { Issue } from "../src/model/refusal.ts";
import type { RefusalCode } from "../src/model/refusals.ts";
import { pageSession } from "./session.ts";

/** Why a request failed. `OFFLINE`: no response; `UNREADABLE`: the response came from something else, such as a proxy. */
export type Failure = {
  code: RefusalCode | "OFFLINE" | "UNREADABLE";
  /** 0 without a response. */
  status: number;
  message: string;
  hint?: string;
  issues?: Issue[];
  requestId?: string;
  retryAfterSeconds?: number;
};

export type Answer<T> = { ok: true; value: T } | { ok: false; failure: Failure };

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/**
 * The one place where requests are sent. They wait while the user signs in again after the session has ended.
 * `isBackground`: sent by the page itself, not because of something that the user asked for.
 */
function send(path: string, init: RequestInit, isBackground = init.method === "GET"): Promise<Response> {
  const attempt = () => fetch(path, init);
  // Signing in and out, and asking who is signed in, need no session.
  if (/^\/api\/auth\/(sign-|get-session)/.test(path)) return attempt();
  return pageSession.send(attempt, { isBackground, signal: init.signal ?? undefined });
}

/** Throws only if the signal is aborted. By default, a GET is a background request (see `send`), and others are not. */
export async function ask<T>(
  method: Method,
  path: string,
  { body, signal, isBackground }: { body?: unknown; signal?: AbortSignal; isBackground?: boolean } = {},
): Promise<Answer<T>> {
  const init = {
    method,
    headers: {
      accept: "application/json",
      ...(body !== undefined && { "content-type": "application/json" }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  };
  let response: Response;
  try {
    response = await send(path, init, isBackground);
  } catch (error) {
    if (signal?.aborted) throw error;
    return { ok: false, failure: offline };
  }
  const { status } = response;
  if (status === 204) return { ok: true, value: undefined as T };
  // biome-ignore lint/suspicious/noExplicitAny: any JSON.
  let answered: any;
  try {
    answered = await response.json();
  } catch (error) {
    if (signal?.aborted) throw error;
    // Anything else than JSON is a SyntaxError.
    if (!(error instanceof SyntaxError)) return { ok: false, failure: offline };
  }
  if (response.ok && answered !== undefined) return { ok: true, value: answered };
  return { ok: false, failure: refusalOf(response, answered) };
}

/** POST that answers a file. */
export async function askFile(
  path: string,
  body: unknown,
): Promise<Answer<{ file: Blob; headers: Headers }>> {
  try {
    const response = await send(path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    if (response.ok) return { ok: true, value: { file: await response.blob(), headers: response.headers } };
    return { ok: false, failure: refusalOf(response, await response.json().catch(() => undefined)) };
  } catch {
    // Also when the file breaks off.
    return { ok: false, failure: offline };
  }
}

/** DELETE; an item that no longer exists counts as deleted. */
export async function remove(path: string): Promise<Answer<void>> {
  const answer = await ask<void>("DELETE", path);
  return !answer.ok && answer.failure.code === "NOT_FOUND" ? { ok: true, value: undefined } : answer;
}

const offline: Failure = {
  code: "OFFLINE",
  status: 0,
  message: "Cannot reach the server.",
  hint: "Check your network connection.",
};

// biome-ignore lint/suspicious/noExplicitAny: any JSON.
function refusalOf({ status, headers }: Response, answered: any): Failure {
  const retryAfterSeconds = Number(headers.get("retry-after")) || undefined;
  const failure: Failure =
    typeof answered?.code === "string"
      ? { ...answered, status }
      : {
          code: "UNREADABLE",
          status,
          message: `Unexpected response (status ${status}).`,
        };
  return { ...failure, ...(retryAfterSeconds && { retryAfterSeconds }) };
}

/** The error that queries throw. */
export class Failed extends Error {
  override name = "Failed";
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

/** For queries: GET; throws Failed. */
export async function read<T>(path: string, signal: AbortSignal): Promise<T> {
  const answer = await ask<T>("GET", path, { signal });
  if (answer.ok) return answer.value;
  throw new Failed(answer.failure);
}

/** For queries: the first `bytesMax` bytes of a long text. `complete`: that is all of it. */
export async function readStart(
  path: string,
  bytesMax: number,
  signal: AbortSignal,
): Promise<{ text: string; complete: boolean }> {
  const response = await send(path, { method: "GET", signal }).catch(error => {
    throw signal.aborted ? error : new Failed(offline);
  });
  if (!response.ok || !response.body) {
    throw new Failed(refusalOf(response, await response.json().catch(() => undefined)));
  }
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (let left = bytesMax; left > 0; ) {
    const { done, value } = await reader.read().catch(error => {
      throw signal.aborted ? error : new Failed(offline);
    });
    if (done) return { text: text + decoder.decode(), complete: true };
    text += decoder.decode(value.subarray(0, left), { stream: true });
    left -= value.length;
  }
  await reader.cancel();
  return { text, complete: false };
}

/** The failure behind anything thrown. */
export function failureOf(error: unknown): Failure {
  if (error instanceof Failed) return error.failure;
  const message = error instanceof Error ? error.message : String(error);
  if (isLoadError(error)) return { ...offline, message: "This page could not be loaded." };
  return { code: "UNREADABLE", status: 0, message: `This page crashed: ${message}` };
}

/** What Vite, and then each browser, says when a page's script or stylesheet cannot be fetched. */
const loadErrors = [
  "Unable to preload CSS",
  "Failed to fetch dynamically imported module",
  "error loading dynamically imported module",
  "Importing a module script failed",
];

/** Whether a part of the dashboard was not fetched: the service is away, or has a newer dashboard. */
export function isLoadError(error: unknown): boolean {
  return error instanceof Error && loadErrors.some(start => error.message.startsWith(start));
}
