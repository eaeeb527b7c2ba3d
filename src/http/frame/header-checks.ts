// Rejects requests without a Host and with an Expect other than 100-continue, which Node would answer without a body, and
// those with two Hosts or a transfer coding other than chunked, which Node would accept.
import { Refusal } from "../../model/refusal.ts";
import type { App } from "./deps.ts";

/** For `http.createServer`: Node leaves both checks to `checkHeaders`. */
export const uncheckedHost = { requireHostHeader: false };

export function checkHeaders(app: App): void {
  // Node emits this instead of "request".
  app.server.on("checkExpectation", (request, response) => {
    app.server.emit("request", request, response);
  });
  app.addHook("onRequest", async ({ raw: { headers, rawHeaders, httpVersion } }) => {
    const hosts = rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === "host").length;
    if (hosts > 1 || (hosts === 0 && httpVersion === "1.1")) {
      throw new Refusal("VALIDATION_ERROR", {
        message: hosts > 1 ? "The Host header is there more than once." : "The Host header is missing.",
        hint: "Send one Host header with the host name of this service, as HTTP/1.1 requires.",
      });
    }
    if (!isPlainOrChunked(headers["transfer-encoding"])) {
      throw new Refusal("VALIDATION_ERROR", {
        message: "This Transfer-Encoding is not supported.",
        hint: "Use Transfer-Encoding: chunked alone, and Content-Encoding: gzip for a compressed body.",
      });
    }
    if (headers.expect !== undefined && headers.expect.toLowerCase() !== "100-continue") {
      throw new Refusal("EXPECTATION_FAILED", {
        hint: "Leave the header out, or send Expect: 100-continue.",
      });
    }
  });
}

/** As a list, which may have empty elements. The parser has read the body as chunked. */
function isPlainOrChunked(transferEncoding: string | undefined): boolean {
  const codings = (transferEncoding ?? "chunked").split(",").map(coding => coding.trim().toLowerCase());
  return codings.filter(coding => coding !== "").join() === "chunked";
}
