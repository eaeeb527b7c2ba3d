// The privacy settings of a project: what is redacted before it is stored, its trial on past traces, and the pseudonym key.

import type { Editor } from "../../editor.ts";
import type { RedactionRules } from "../../model/redaction.ts";
import { type Issue, Refusal } from "../../model/refusal.ts";
import { findPrivacy, findPseudonymKey, savePrivacy } from "../../store/accounts/privacy.ts";
import type { Vault } from "../../store/secrets/vault.ts";
import { checkingOf } from "../frame/checking.ts";
import type { App, Deps } from "../frame/deps.ts";
import { found } from "../frame/page.ts";
import { limitTrials } from "../frame/rate-limit.ts";
import { routesOf } from "../frame/route.ts";
import { Privacy, PrivacyInput, PrivacyPreview, PrivacyRules, PseudonymKey } from "../privacy-schemas.ts";

export function registerPrivacy(app: App, deps: Deps & { vault: Vault; editor: Editor }): void {
  registerSettings(app, deps);
  registerPreview(app, deps);
}

function registerSettings(app: App, { db, vault, machine }: Deps & { vault: Vault }): void {
  const route = routesOf(app, "projects");
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
  route("GET /api/projects/:id/privacy", {
    access: "tokens",
    summary: "Get the privacy settings",
    answer: Privacy,
    handler: async ({ id }) => shown(found(await findPrivacy(db, id))),
  });

  route("PUT /api/projects/:id/privacy", {
    access: "session",
    summary: "Replace the privacy settings; they hold for everything that is stored after the answer",
    body: PrivacyInput,
    answer: Privacy,
    handler: async ({ id, body, account }) => {
      await changes(account.id, () => requireValid(account.id, body));
      if (!(await savePrivacy(db, vault, id, body))) throw new Refusal("NOT_FOUND");
      return shown(body);
    },
  });

  route("GET /api/projects/:id/privacy/pseudonym-key", {
    access: "tokens",
    summary: "Get when the key of pseudonyms was made",
    answer: PseudonymKey,
    handler: async ({ id }) => {
      const { createdAt, key } = await findPseudonymKey(db, vault, id);
      return { createdAt, readable: createdAt === null || key !== null };
    },
  });
}

function registerPreview(app: App, { db, machine, editor }: Deps & { editor: Editor }): void {
  const route = routesOf(app, "projects");
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
  route("POST /api/projects/:id/privacy/preview", {
    access: "session",
    waits: true,
    summary: "Try rules on the latest 100 traces of the project; stores nothing",
    body: PrivacyRules,
    answer: PrivacyPreview,
    handler: ({ id: projectId, body: rules, account }) =>
      trials(account.id, async () => {
        await requireValid(account.id, rules);
        return editor.tryRedaction({ projectId, rules }, new AbortController().signal);
      }),
  });
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
