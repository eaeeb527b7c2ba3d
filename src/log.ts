// The service's log: JSON lines, or text for a terminal, with secrets redacted.
import pino from "pino";
import type { LogFormat } from "./config/environment.ts";
import { textStream } from "./log/text.ts";

const secret = ["password", "newPassword", "currentPassword", "token", "key", "cookie", "authorization"];

/** The stream for this format; undefined: pino's default, JSON to standard output. */
export function logStream(format: LogFormat, fd: 1 | 2 = 1): pino.DestinationStream | undefined {
  if (format === "text") return textStream(fd);
  return fd === 1 ? undefined : pino.destination({ fd, sync: true });
}

/** A logger to standard output, or to `stream`. Redacts secrets that are logged by mistake. */
export function openLog(level: string, stream?: pino.DestinationStream): pino.Logger {
  const names = [...secret, "set-cookie", "x-api-key"].map(name => `["${name}"]`);
  const options: pino.LoggerOptions = {
    level,
    redact: {
      // The `detail` of a database error contains the values that violated a constraint.
      paths: [...names.flatMap(name => [name.slice(0), `*${name}`, `*.*${name}`]), "err.detail", "err.where"],
      censor: "[cut out]",
    },
    serializers: {
      err: pino.stdSerializers.err,
      // Without headers and query, which contain session cookies, keys and the tokens of email links.
      req: (request: { method: string; url: string }) => ({
        method: request.method,
        path: request.url.split("?", 1)[0],
      }),
    },
  };
  return stream ? pino(options, stream) : pino(options);
}
