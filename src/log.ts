// The service's log: one JSON object a line, and nothing in it that opens a door.
import pino from "pino";

const secret = ["password", "newPassword", "currentPassword", "token", "key", "cookie", "authorization"];

/** A logger to standard output, or to `stream`. Secrets are cut out wherever they might be logged by mistake. */
export function openLog(level: string, stream?: pino.DestinationStream): pino.Logger {
  const names = [...secret, "set-cookie", "x-api-key"].map(name => `["${name}"]`);
  const options: pino.LoggerOptions = {
    level,
    redact: {
      // Values that violated a constraint stand in the `detail` of a database error.
      paths: [...names.flatMap(name => [name.slice(0), `*${name}`, `*.*${name}`]), "err.detail", "err.where"],
      censor: "[cut out]",
    },
    serializers: {
      err: pino.stdSerializers.err,
      // No headers, and no query: links carry their token there.
      req: (request: { method: string; url: string }) => ({
        method: request.method,
        path: request.url.split("?", 1)[0],
      }),
    },
  };
  return stream ? pino(options, stream) : pino(options);
}
