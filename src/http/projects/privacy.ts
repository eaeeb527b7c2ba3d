// The privacy settings of a project: what is redacted before it is stored, its trial on past traces, and the pseudonym key.

import { z } from "zod";
import type { Editor } from "../../editor.ts";
import type { RedactionRules } from "../../model/redaction.ts";
import { type Issue, Refusal } from "../../model/refusal.ts";
import { findPrivacy, findPseudonymKey, savePrivacy } from "../../store/accounts/privacy.ts";
import type { Vault } from "../../store/secrets/vault.ts";
import { checkingOf } from "../checking.ts";
import type { App, Deps } from "../deps.ts";
import { found } from "../page.ts";
import { Privacy, PrivacyInput, PrivacyPreview, PrivacyRules, PseudonymKey } from "../privacy-schemas.ts";
import { limitTrials } from "../rate-limit.ts";
import { requireAccount } from "../signed-in.ts";

const params = z.object({ id: z.string() });
const tags = ["projects"];

export function registerPrivacy(app: App, deps: Deps & { vault: Vault; editor: Editor }): void {
  registerSettings(app, deps);
  registerPseudonymKey(app, deps);
  registerPreview(app, deps);
}

function registerSettings(app: App, { db, vault, machine }: Deps & { vault: Vault }): void {
  const requireValid = validation(app);
  const changes = limitTrials(
    { db, machine },
    {
      kind: "privacy changes",
      busy: "Your last change of privacy rules is still being checked. Try again in a moment.",
      perMinuteMax: 30,
      what: "changes of privacy rules",
    },
  );
  app.get(
    "/api/projects/:id/privacy",
    { schema: { tags, params, summary: "Get the privacy settings", response: { 200: Privacy } } },
    async ({ params: { id } }) => shown(found(await findPrivacy(db, id))),
  );

  app.put(
    "/api/projects/:id/privacy",
    {
      schema: {
        tags,
        params,
        summary: "Replace the privacy settings; they hold for everything that is stored after the answer",
        body: PrivacyInput,
        response: { 200: Privacy },
      },
    },
    async request => {
      const {
        params: { id },
        body,
      } = request;
      const account = requireAccount(request).id;
      await changes(account, () => requireValid(account, body));
      if (!(await savePrivacy(db, vault, id, body))) throw new Refusal("NOT_FOUND");
      return shown(body);
    },
  );
}

function registerPseudonymKey(app: App, { db, vault }: Deps & { vault: Vault }): void {
  app.get(
    "/api/projects/:id/privacy/pseudonym-key",
    {
      schema: {
        tags,
        params,
        summary: "Get when the key of pseudonyms was made",
        response: { 200: PseudonymKey },
      },
    },
    async ({ params: { id } }) => keyShown(await findPseudonymKey(db, vault, id)),
  );
}

function registerPreview(app: App, { db, machine, editor }: Deps & { editor: Editor }): void {
  const trials = limitTrials(
    { db, machine },
    {
      kind: "privacy trials",
      busy: "Limit: 1 trial of privacy rules at a time. Wait for it to finish.",
      concurrentMax: 1,
      perMinuteMax: 30,
      what: "trials of privacy rules",
    },
  );
  const requireValid = validation(app);
  app.post(
    "/api/projects/:id/privacy/preview",
    {
      config: { waits: true },
      schema: {
        tags,
        params,
        summary: "Try rules on the latest 100 traces of the project; stores nothing",
        body: PrivacyRules,
        response: { 200: PrivacyPreview },
      },
    },
    async request => {
      const { body: rules, params } = request;
      const account = requireAccount(request).id;
      const projectId = params.id.toLowerCase();
      return trials(account, async () => {
        await requireValid(account, rules);
        return editor.tryRedaction({ projectId, rules }, new AbortController().signal);
      });
    },
  );
}

/** The function that throws VALIDATION_ERROR; patterns are compiled on a thread. */
function validation(app: App) {
  const check = checkingOf(app);
  return async (accountId: string, { rules, pseudonyms }: RedactionRules): Promise<void> => {
    const issues = rules.length > 0 ? [...(await check<Issue[]>("rules", accountId, rules))] : [];
    for (const [at, key] of pseudonyms.entries()) {
      if (pseudonyms.indexOf(key) < at) {
        issues.push({ path: `pseudonyms[${at}]`, message: "This attribute is listed already." });
      }
    }
    if (issues.length > 0) throw new Refusal("VALIDATION_ERROR", { issues });
  };
}

type Settings = NonNullable<Awaited<ReturnType<typeof findPrivacy>>>;

function shown({ builtIn, rules, pseudonyms, judgeRules, judgeSeesToolResults }: Settings): Privacy {
  return {
    builtIn: [...builtIn],
    rules: [...rules],
    pseudonyms: [...pseudonyms],
    judgeRules: [...judgeRules],
    judgeSeesToolResults,
  };
}

function keyShown({ createdAt, key }: Awaited<ReturnType<typeof findPseudonymKey>>): PseudonymKey {
  return { createdAt: createdAt?.toISOString() ?? null, readable: createdAt === null || key !== null };
}
