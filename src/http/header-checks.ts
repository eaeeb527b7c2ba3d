// Rejects requests without a Host and with an Expect other than 100-continue, which Node would answer without a body.
import { Refusal } from "../model/refusal.ts";
import type { App } from "./deps.ts";

/** For `http.createServer`: Node leaves both checks to `checkHeaders`. */
export const uncheckedHost = { requireHostHeader: false };

export function checkHeaders(app: App): void {
  // Node emits this instead of "request".
  app.server.on("checkExpectation", (request, response) => {
    app.server.emit("request", request, response);
  });
  app.addHook("onRequest", async ({ raw: { headers, httpVersion } }) => {
    if (headers.host === undefined && httpVersion === "1.1") {
      throw new Refusal("VALIDATION_ERROR", {
        message: "The Host header is missing.",
        hint: "Send the host name of this service, as HTTP/1.1 requires.",
      });
    }
    if (headers.expect !== undefined && headers.expect.toLowerCase() !== "100-continue") {
      throw new Refusal("EXPECTATION_FAILED", {
        hint: "Leave the header out, or send Expect: 100-continue.",
      });
    }
  });
}
