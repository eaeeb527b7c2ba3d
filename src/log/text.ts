// Formats the log for a terminal: time, message, and the fields of warnings and errors.
import { isatty } from "node:tty";
import { styleText } from "node:util";
import pino from "pino";

type Line = { level: number; time: number; msg?: string; err?: unknown; [field: string]: unknown };

/** A repeated message is printed at most once in this time, such as while the service waits for its database. */
const repeatMs = 60_000;

/** Takes pino's JSON lines and writes text to the file descriptor, colored if it is a terminal. */
export function textStream(fd: number): pino.DestinationStream {
  const out = pino.destination({ fd, sync: true });
  const isColored = isatty(fd) && !process.env["NO_COLOR"];
  let last = "";
  let lastAt = Number.NEGATIVE_INFINITY;
  return {
    write(json) {
      const line = JSON.parse(json) as Line;
      const text = formatLine(line, isColored);
      const isRepeat = text.slice(8) === last && line.time - lastAt < repeatMs;
      if (isRepeat) return;
      last = text.slice(8); // without the time
      lastAt = line.time;
      out.write(text);
    },
  };
}

/** Ends in a newline. Info lines show only the message; warnings and errors also show their fields and the cause. */
export function formatLine(line: Line, isColored: boolean): string {
  const { level, time, msg, err, pid: _pid, hostname: _hostname, ...fields } = line;
  const style = (format: "dim" | "yellow" | "red", text: string) =>
    isColored ? styleText(format, text, { validateStream: false }) : text;
  const clock = new Date(time).toTimeString().slice(0, 8);
  const cause = causeOf(err);
  const message = onOneLine(msg ?? cause.message);
  if (level < 40) return `${clock}  ${message}\n`;
  const word = level < 50 ? style("yellow", "Warning:") : style("red", "Error:");
  const why = cause.message && cause.message !== msg ? ` (${onOneLine(cause.message)})` : "";
  const pairs = Object.entries(fields).map(([name, value]) => `${name}=${plain(value)}`);
  const about = pairs.length > 0 ? ` ${style("dim", onOneLine(pairs.join(" ")))}` : "";
  const frames = cause.stack?.split("\n").map(onOneLine).join("\n");
  const stack = level < 50 || !frames ? "" : `\n${style("dim", frames)}`;
  return `${clock}  ${word} ${message}${why}${about}${stack}\n`;
}

function plain(value: unknown): string {
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** Escapes control characters: an error may repeat a text that moves the cursor, or looks like another line. */
function onOneLine(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, char => {
    return `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

function causeOf(err: unknown): { message: string; stack?: string } {
  if (typeof err === "string") return { message: err };
  return { message: "", ...(err as { message: string; stack?: string } | undefined) };
}
