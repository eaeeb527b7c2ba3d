// Drives WebKitGTK's MiniBrowser, on a screen of Xvfb, with the WebDriver of Debian's webkit2gtk-driver.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "../../../support/eventually.ts";
import { freePort } from "../../../support/free-port.ts";
import type { Driver, Size } from "./driver.ts";
import { type Running, startProgram } from "./process.ts";

/** The program of the library, which has no place on PATH. */
const miniBrowser = "/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser";
/** One command may load a page. */
const commandMs = 60_000;
/** The buttons of MiniBrowser's toolbar keep the window at 447 pixels or more otherwise. */
const noToolbar = "* { min-width: 0; padding: 0; margin: 0; border-width: 0; font-size: 1px; }";

type Session = { sessionId: string; capabilities: { browserVersion: string } };

export async function startWebKitGtk(): Promise<Driver> {
  const running: Running[] = [];
  const stop = async () => {
    for (const program of running.toReversed()) await program.stop();
  };
  try {
    const screen = ["-screen", "0", "1920x1200x24", "-nolisten", "tcp", "-displayfd", "1"];
    running.push(await startProgram("Xvfb", () => screen, { ready: /^(\d+)\n/ }));
    const port = await freePort();
    const env = { DISPLAY: `:${running[0]!.found}`, NO_AT_BRIDGE: "1", LIBGL_ALWAYS_SOFTWARE: "1" };
    running.push(await startProgram("WebKitWebDriver", withoutToolbar(port), { env }));
    return await openSession(`http://127.0.0.1:${port}`, stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

const withoutToolbar = (port: number) => (home: string) => {
  mkdirSync(join(home, ".config/gtk-3.0"), { recursive: true });
  writeFileSync(join(home, ".config/gtk-3.0/gtk.css"), noToolbar);
  return [`--port=${port}`];
};

async function openSession(driver: string, stop: () => Promise<void>): Promise<Driver> {
  await eventually(() => fetch(`${driver}/status`));
  const options = { binary: miniBrowser, args: ["--automation"] };
  const { sessionId, capabilities } = await request<Session>("POST", `${driver}/session`, {
    capabilities: { alwaysMatch: { "webkitgtk:browserOptions": options, unhandledPromptBehavior: "accept" } },
  });
  const session = `${driver}/session/${sessionId}`;
  const call = async <T>(source: string, ...args: unknown[]) => {
    // JSON inside the page, since the driver changes some values, such as undefined in lists.
    const script = `return Promise.resolve((${source})(...JSON.parse(arguments[0]))).then(value => JSON.stringify(value))`;
    const result = await request<string | null>("POST", `${session}/execute/sync`, {
      script,
      args: [JSON.stringify(args)],
    });
    return JSON.parse(result ?? "null") as T;
  };
  return {
    name: `WebKitGTK ${capabilities.browserVersion}`,
    async goto(url) {
      await request("POST", `${session}/url`, { url });
    },
    call,
    async perform(actions) {
      await request("POST", `${session}/actions`, { actions });
    },
    async resize(size) {
      const bars = await call<Size>(
        "() => ({ width: outerWidth - innerWidth, height: outerHeight - innerHeight })",
      );
      const window = { width: size.width + bars.width, height: size.height + bars.height };
      await request("POST", `${session}/window/rect`, { x: 0, y: 0, ...window });
    },
    async screenshot() {
      return Buffer.from(await request<string>("GET", `${session}/screenshot`), "base64");
    },
    async close() {
      await request("DELETE", session).catch(() => {}); // ended with the driver then
      await stop();
    },
  };
}

async function request<T>(method: string, url: string, body?: object): Promise<T> {
  const response = await fetch(url, {
    method,
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(commandMs),
  });
  const { value } = (await response.json()) as { value: T & { error?: string; message?: string } };
  if (!response.ok) throw new Error(`WebKitWebDriver: ${value.error}: ${value.message}`);
  return value;
}
