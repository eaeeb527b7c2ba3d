// Tests the judge's clients against a real gateway: LiteLLM's proxy in front of a scripted model, in all of its dialects.
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, suite, test } from "node:test";
import pino from "pino";
import type { JudgeConnection, JudgeProvider } from "../../../src/model/judge/call.ts";
import { openJudgeClient, routeRequest } from "../../../src/remote/judge/client.ts";
import { modesOf } from "../../../src/remote/judge/models.ts";
import { probeJudge } from "../../../src/remote/judge/probe.ts";
import { freePort } from "../../support/free-port.ts";
import { type JudgeServer, obliging, refusal, startJudgeServer } from "../../support/judge-server.ts";
import { cached } from "../support/cache.ts";
import { requireCommand } from "../support/command.ts";
import { leftOut } from "../support/needs.ts";

const version = "1.106.0";
const skip = await leftOut("python", "pypi");

suite(`LiteLLM ${version}`, { skip }, () => {
  let model: JudgeServer;
  let proxy: ChildProcess | undefined;
  let base = "";
  const folder = mkdtempSync(join(tmpdir(), "onlooker-litellm-"));
  const log = pino({ level: "silent" });

  before(async () => {
    model = await startJudgeServer();
    const packages = await installLiteLlm();
    const port = await freePort();
    base = `http://127.0.0.1:${port}`;
    const config = join(folder, "config.yaml");
    writeFileSync(
      config,
      [
        "model_list:",
        "  - model_name: judge",
        `    litellm_params: { model: openai/scripted, api_base: "${model.url}", api_key: upstream }`,
        "litellm_settings: { use_chat_completions_url_for_anthropic_messages: true }",
        "router_settings: { disable_cooldowns: true, num_retries: 0 }",
        "general_settings: { master_key: sk-right }",
      ].join("\n"),
    );
    const run = ["-c", "from litellm import run_server; run_server()"];
    const options = ["--config", config, "--host", "127.0.0.1", "--port", String(port)];
    proxy = spawn("python3", [...run, ...options], {
      // Its prices come with the package: nothing is downloaded.
      env: { ...process.env, PYTHONPATH: packages, LITELLM_LOCAL_MODEL_COST_MAP: "True" },
      stdio: "ignore",
    });
    for (;;) {
      assert.equal(proxy.exitCode, null, "LiteLLM did not start");
      const alive = await fetch(`${base}/health/liveliness`).catch(() => undefined);
      if (alive?.ok) return;
      await new Promise(resolve => setTimeout(resolve, 200));
    }
  });
  beforeEach(() => {
    model.script = obliging();
    model.requests.length = 0;
  });
  after(async () => {
    if (proxy?.exitCode === null) {
      proxy.kill("SIGKILL");
      await once(proxy, "exit");
    }
    await model?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const connectionTo = (provider: JudgeProvider, more: Partial<JudgeConnection> = {}): JudgeConnection => ({
    ...model.connection({ provider, model: "judge", apiKey: "sk-right", ...more }),
    url: `${base}${provider === "google" ? "/v1beta" : "/v1"}`,
  });
  const ask = async (connection: JudgeConnection) => {
    const scenarios = [{ id: "s1", scenario: "The user asks where an order is." }];
    const reply = await openJudgeClient(connection, { log }).call(
      routeRequest({ userInput: "Where is it?", scenarios }),
    );
    return reply.code === "ok" ? "ok" : `${reply.code}: ${reply.detail.code}`;
  };

  for (const provider of ["openai_compatible", "openai", "anthropic", "google"] as const) {
    test(`works as ${provider}`, async () => {
      const connection = connectionTo(provider);
      const clients: Parameters<typeof probeJudge>[0] = mode => openJudgeClient(connection, { log, mode });
      const probe = await probeJudge(clients, modesOf(provider), AbortSignal.timeout(60_000));
      assert.deepEqual([probe.ok, probe.reason], [true, "The judge works."]);
      assert.ok(model.requests.length >= 2);
      assert.ok(model.requests.every(({ protocol }) => protocol === "openai"));
    });

    test(`names a wrong key and an unknown model as ${provider}`, async () => {
      // Without a database it answers both with 400.
      assert.equal(await ask(connectionTo(provider, { apiKey: "sk-wrong" })), "refused: judge_key_rejected");
      assert.equal(await ask(connectionTo(provider, { model: "unknown" })), "refused: judge_model_unknown");
      assert.equal(model.requests.length, 0);
    });

    test(`passes on what the model cannot do now as ${provider}`, async () => {
      model.script = () => refusal(503);
      assert.match(await ask(connectionTo(provider)), /^later: /);
      model.script = () =>
        refusal(429, { code: "insufficient_quota", message: "You exceeded your current quota." });
      assert.match(await ask(connectionTo(provider)), /^later: /);
      model.script = obliging();
      assert.equal(await ask(connectionTo(provider)), "ok");
    });
  }
});

/** The folder of LiteLLM's proxy and its packages, 740 MB. */
function installLiteLlm(): Promise<string> {
  return cached("litellm", { version }, async folder => {
    const quiet = ["--quiet", "--disable-pip-version-check", "--root-user-action=ignore"];
    const packages = ["--target", folder, `litellm[proxy]==${version}`];
    await requireCommand("python3", ["-m", "pip", "install", ...quiet, ...packages]);
  });
}
