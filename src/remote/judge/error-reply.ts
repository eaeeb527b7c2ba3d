// Reads the failed HTTP response of a judge: its codes and text, and how long the server asks to be left alone.
import type { APICallError } from "@ai-sdk/provider";
import { isRecord } from "../../model/record.ts";
import { beginningOf } from "../foreign-text.ts";

/** What a failed response says. `text` is never shown or stored: it may repeat the key or the prompt. */
export type ErrorReply = {
  /** A gateway's 200 with an error in its body has the status of that error, if it names one. */
  status: number;
  /** Everything the body has as code, type, status or reason. */
  codes: string[];
  text: string;
  /** `{ "detail" }`, as FastAPI has it, or anything else. */
  form: "detail" | null;
  /** How long the server asks to be left alone; null: it does not say. */
  retryMs: number | null;
};

/** Undefined where no response arrived, or where one with 2xx has no error in its body. */
export function readError(error: APICallError, now: number): ErrorReply | undefined {
  const { statusCode, responseBody = "", responseHeaders = {} } = error;
  if (statusCode === undefined) return undefined;
  const body = parsed(responseBody);
  const root = Array.isArray(body) ? body[0] : body;
  const parts = isRecord(root) ? partsOf(root) : [];
  const said = parts
    .flatMap(part => [part["code"], part["status"]])
    .find(
      code =>
        (typeof code === "string" || typeof code === "number") && /^[45]\d\d$/.test(beginningOf(`${code}`)),
    );
  if (statusCode < 300 && said === undefined && !(isRecord(root) && ("error" in root || "detail" in root))) {
    return undefined;
  }
  const text = isRecord(root)
    ? parts.map(textOf).find(text => text !== "")
    : plainText(beginningOf(responseBody));
  return {
    status: statusCode < 300 && said !== undefined ? Number(said) : statusCode,
    codes: parts.flatMap(codesOf),
    // Cut before the material: a server may repeat the prompt, and the words of a trace must not decide.
    text: beginningOf(text)
      .split(/MATERIAL [\da-f]{24}/)[0]!
      .slice(0, 600),
    form: isRecord(root) && "detail" in root && !("error" in root) ? "detail" : null,
    retryMs: retryMsOf(responseHeaders, parts, now),
  };
}

/** A server that asks for a day, by mistake or not, is called again after an hour. */
const retryAfterMaxMs = 3_600_000;

type Part = Record<string, unknown>;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The objects of a body that may describe the error: itself, its `error` or `detail`, and what these contain. */
function partsOf(root: Part): Part[] {
  const inner = [root["error"], root["detail"]].flatMap(one =>
    typeof one === "string" ? { message: one } : one,
  );
  const parts = inner.filter(isRecord);
  const nested = parts
    .flatMap(part => [part["error"], part["details"]])
    .flat()
    .filter(isRecord);
  return [...parts, ...nested, root];
}

function codesOf(part: Part): string[] {
  const { loc, type } = part as { loc?: unknown; type?: unknown };
  const missing = Array.isArray(loc) && loc[0] === "header" && type === "missing" ? ["missing_header"] : [];
  const all = [part["code"], type, part["status"], part["reason"], part["error_code"]];
  return [
    ...missing,
    ...all.filter(code => typeof code === "string").map(code => beginningOf(code).toLowerCase()),
  ];
}

function textOf(part: Part): string {
  const text = [part["message"], part["msg"], part["error"]].find(text => typeof text === "string");
  return typeof text === "string" ? beginningOf(text.trim()) : "";
}

/** Of HTML, what says that the server expects TLS: servers say so in a page. */
function plainText(body: string): string {
  if (!/^\s*</.test(body)) return body.trim();
  const said = body.split(/[<>]/).find(text => /\bplain HTTP\b/.test(text));
  return said?.trim() ?? "";
}

/** From the headers, in seconds, milliseconds or as a date by the server's own clock; Google has it in the body. */
function retryMsOf(headers: Record<string, string>, parts: Part[], now: number): number | null {
  const theirNow = Date.parse(beginningOf(headers["date"])) || now;
  const ofHeaders = ["", "llm_provider-"].flatMap(prefix => {
    const text = beginningOf(headers[`${prefix}retry-after`]);
    return [
      number(beginningOf(headers[`${prefix}retry-after-ms`])),
      longest(text),
      // Date.parse takes "-40" for the year 2040. All dates of HTTP have a time.
      text.includes(":") ? Date.parse(text) - theirNow : Number.NaN,
    ];
  });
  const delay = parts.map(part => part["retryDelay"]).find(delay => typeof delay === "string");
  const ofBody = number(/^([\d.]+)s$/.exec(beginningOf(delay))?.[1], 1_000);
  const ms = [...ofHeaders, ofBody].find(ms => !Number.isNaN(ms));
  return ms === undefined ? null : Math.min(Math.max(0, ms), retryAfterMaxMs);
}

/** In seconds, of each header if a server and its gateway send one: they arrive as one text, "10, 20". */
function longest(text: string): number {
  return Math.max(...text.split(",").map(one => number(one, 1_000)));
}

function number(text: string | undefined, unitMs = 1): number {
  return text !== undefined && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) * unitMs : Number.NaN;
}
