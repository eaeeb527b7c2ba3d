// Reads the reply from a stream of server-sent events: joins the texts of its events, unless one says that it failed.
import { createParser } from "eventsource-parser";
import { pointersTo, valueAt } from "./json-pointer.ts";
import { errorPlace, isAside, isFailure } from "./reply-errors.ts";

/** `why` completes "The reply …". */
export type Found = { text: string } | { text: null; why: string };

export type StreamReading = {
  /** Undefined if it is not JSON. */
  parse: (data: string) => unknown;
  /** Whether data that is not JSON is text of the reply; with `whole`, all of it. */
  plain: boolean;
  whole: boolean;
  /** Where the text is in the data of an event, if that is known. */
  pointer: string;
  textIn: (value: unknown) => string | null;
};

export const unended = "is a stream that broke off before its end";

/**
 * Events without text are skipped. Stops reading after `[DONE]`, because some servers then leave the connection open. Events
 * are parsed as they arrive, so that other work of the thread can run in between.
 */
export async function readStream(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  reading: StreamReading,
): Promise<Found> {
  const parts: string[] = [];
  let done = false;
  let failure: string | undefined;
  // The last chunk of a chat completion has a finish reason.
  let [isUnfinished, isFinished] = [false, false];
  const parser = createParser({
    onEvent({ event, data }) {
      done ||= data.trim() === "[DONE]";
      if (done) return;
      const found = readEvent(event, data, reading);
      failure ??= found.failure;
      isUnfinished ||= found.finish === null;
      isFinished ||= typeof found.finish === "string";
      if (found.text !== null) parts.push(found.text);
    },
  });
  const decoder = new TextDecoder("utf-8", { fatal: true });
  try {
    for await (const chunk of body) {
      parser.feed(decode(decoder, chunk));
      if (done) break;
    }
    // The end of the stream also ends the last event.
    if (!done) parser.feed(`${decode(decoder)}\n\n`);
  } catch (error) {
    if (error instanceof NotUtf8) return { text: null, why: "is a stream that is not valid UTF-8" };
    throw error;
  }
  // A partial reply is an error.
  if (failure !== undefined) return { text: null, why: `is a stream that failed: it has ${failure}` };
  if (isUnfinished && !isFinished && !done) return { text: null, why: unended };
  if (parts.length > 0) return { text: parts.join("") };
  const where = reading.pointer && ` at ${reading.pointer}`;
  return { text: null, why: `is a stream in which no event has a text${where}` };
}

class NotUtf8 extends Error {}

function decode(decoder: InstanceType<typeof TextDecoder>, chunk?: Uint8Array<ArrayBuffer>): string {
  try {
    return chunk ? decoder.decode(chunk, { stream: true }) : decoder.decode();
  } catch {
    throw new NotUtf8();
  }
}

/** `failure`: what says that the stream failed. `finish`: null in chunks of completions before the last. */
type EventFound = { text: string | null; failure?: string; finish?: unknown };

function readEvent(event: string | undefined, data: string, reading: StreamReading): EventFound {
  const { plain, whole, pointer } = reading;
  const value = whole && !data.startsWith("{") ? undefined : reading.parse(data);
  const names = [event, valueAt(value, "/event"), valueAt(value, "/type")].filter(
    name => typeof name === "string",
  );
  const failed = names.find(isFailure);
  if (failed !== undefined) return { text: null, failure: `the event ${failed}` };
  const types = [...names, ...pointersTo(pointer).map(above => valueAt(value, `${above}/type`))];
  // Gemini marks its thoughts.
  const isThought = [...pointersTo(pointer)].some(above => valueAt(value, `${above}/thought`) === true);
  if (isThought || types.some(type => typeof type === "string" && isAside(type))) return { text: null };
  if (value === undefined) return { text: plain ? data : null };
  const place = errorPlace(value, pointer) ?? failedStatus(value);
  if (place !== undefined) return { text: null, failure: `an event with an error at ${place}` };
  const text = whole ? data : reading.textIn(value);
  // Flowise wraps the end of its streams.
  return { text: text === "[DONE]" ? null : text, finish: valueAt(value, "/choices/0/finish_reason") };
}

/** Where the last event of a stream says that what it reports did not succeed. */
function failedStatus(value: unknown): string | undefined {
  if (valueAt(value, "/choices/0/finish_reason") === "error") return "/choices/0/finish_reason";
  if (valueAt(value, "/finishReason") === "error") return "/finishReason";
  // Dify's workflows.
  const status = valueAt(value, "/data/status");
  const isFailed =
    valueAt(value, "/event") === "workflow_finished" && (status === "failed" || status === "stopped");
  return isFailed ? "/data/status" : undefined;
}
