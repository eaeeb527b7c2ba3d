// Drives a stock Firefox over WebDriver BiDi. Firefox speaks this protocol itself; classic WebDriver, and with it
// Selenium, needs geckodriver, which Debian does not package and npm's package downloads from GitHub.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Driver } from "./driver.ts";
import { startProgram } from "./process.ts";

/** Stops the downloads from Mozilla of a first start. */
const preferences = ['"app.normandy.enabled", false', '"datareporting.policy.dataSubmissionEnabled", false'];
/** With about:blank the location bar would keep the focus, and no element of a page would match :focus. */
const startPage = "data:text/html,<p>";

type Message = { id?: number; type: string; result?: unknown; error?: string; message?: string };
type Called = { type: string; result: { value: string }; exceptionDetails?: { text: string } };

export async function startFirefox(): Promise<Driver> {
  const args = (profile: string) => {
    writeFileSync(join(profile, "user.js"), preferences.map(line => `user_pref(${line});\n`).join(""));
    return ["--headless", "--no-remote", "--profile", profile, "--remote-debugging-port=0", startPage];
  };
  const firefox = await startProgram("firefox-esr", args, {
    ready: /WebDriver BiDi listening on (ws:\S+)/,
    env: { MOZ_CRASHREPORTER_DISABLE: "1" },
  });
  try {
    return await openSession(firefox.found, firefox.stop);
  } catch (error) {
    await firefox.stop();
    throw error;
  }
}

async function openSession(url: string, stop: () => Promise<void>): Promise<Driver> {
  const { command, close } = await connect(`${url}/session`);
  const session = await command<{ capabilities: { browserVersion: string } }>("session.new", {
    capabilities: { alwaysMatch: { unhandledPromptBehavior: { default: "accept" } } },
  });
  const { contexts } = await command<{ contexts: { context: string }[] }>("browsingContext.getTree", {});
  const { context } = contexts[0]!;
  return {
    name: `Firefox ${session.capabilities.browserVersion}`,
    async goto(to) {
      await command("browsingContext.navigate", { context, url: to, wait: "complete" });
    },
    async call(source, ...args) {
      // JSON inside the page, since BiDi has a notation of its own for values.
      const functionDeclaration = `async args => JSON.stringify(await (${source})(...JSON.parse(args))) ?? "null"`;
      const { result, exceptionDetails } = await command<Called>("script.callFunction", {
        functionDeclaration,
        arguments: [{ type: "string", value: JSON.stringify(args) }],
        target: { context },
        awaitPromise: true,
      });
      if (exceptionDetails) throw new Error(exceptionDetails.text);
      return JSON.parse(result.value);
    },
    async perform(actions) {
      await command("input.performActions", { context, actions });
    },
    async resize(viewport) {
      await command("browsingContext.setViewport", { context, viewport });
    },
    async screenshot() {
      const { data } = await command<{ data: string }>("browsingContext.captureScreenshot", { context });
      return Buffer.from(data, "base64");
    },
    async close() {
      close();
      await stop();
    },
  };
}

/** Requests and responses by their ids, as the protocol has them. Events are ignored. */
async function connect(url: string) {
  const socket = new WebSocket(url);
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  const failAll = () => {
    for (const { reject } of waiting.values()) reject(new Error("Firefox closed the connection"));
    waiting.clear();
  };
  socket.addEventListener("message", ({ data }) => {
    const { id, type, result, error, message } = JSON.parse(String(data)) as Message;
    const answer = waiting.get(id ?? -1);
    if (!answer) return;
    waiting.delete(id!);
    if (type === "success") answer.resolve(result);
    else answer.reject(new Error(`${error}: ${message}`));
  });
  socket.addEventListener("close", failAll);
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener("open", () => resolve());
    socket.addEventListener("error", () => reject(new Error(`Firefox does not answer at ${url}`)));
  });
  let last = 0;
  return {
    command<T>(method: string, params: object): Promise<T> {
      const id = ++last;
      const answer = Promise.withResolvers<unknown>();
      waiting.set(id, answer);
      socket.send(JSON.stringify({ id, method, params }));
      return answer.promise as Promise<T>;
    },
    close: () => socket.close(),
  };
}
