// /api/projects/:id/agreement: how well the judge agrees with people, and pass rates corrected for its errors.
import type { JudgeConnection } from "../../model/judge/call.ts";
import { type CorrectedRate, correctedRate } from "../../model/judge/corrected-rate.ts";
import {
  type Agreement,
  type CountedAnswers,
  checkAgreement,
  type LabelJudge,
  scenarioAgreement,
} from "../../model/judge/label.ts";
import { promptVersion } from "../../remote/judge/prompts.ts";
import { findAgent } from "../../store/accounts/agents.ts";
import type { Database } from "../../store/db.ts";
import { type CountedLabels, countLabels, countLive, type LiveCounts } from "../../store/judge/agreement.ts";
import { findJudgeConnection } from "../../store/judge/connections.ts";
import type { Vault } from "../../store/secrets/vault.ts";
import type { App, Deps } from "../frame/deps.ts";
import { found } from "../frame/page.ts";
import { routesOf } from "../frame/route.ts";
import { type CheckRow, JudgeAgreement } from "./agreement-schemas.ts";
import { LabelFilter } from "./label-schemas.ts";

const liveMs = 30 * 86_400_000;

export type AgreementDeps = { db: Database; vault: Vault; environmentJudge: JudgeConnection | null };

export function registerAgreement(app: App, deps: Deps & AgreementDeps): void {
  const route = routesOf(app, "judge");
  const { db } = deps;
  route("GET /api/projects/:id/agreement", {
    access: "tokens",
    summary: "Compare the judge's answers with the labels, by kind, judge and test version",
    query: LabelFilter,
    answer: JudgeAgreement,
    handler: async ({ id: projectId, query }) => {
      const filters = { projectId, ...query };
      const [counts, live, judge] = await Promise.all([
        countLabels(db, filters),
        countLive(db, filters, { from: new Date(Date.now() - liveMs), to: new Date() }),
        findJudgeNow(deps, projectId),
      ]);
      const [checks, scenarios] = [true, false].map(isCheck =>
        counts.filter(({ checkId }) => (checkId !== null) === isCheck),
      ) as [CountedLabels[], CountedLabels[]];
      return {
        checks: {
          ...checkAgreement(checks),
          judges: byJudge(checks, checkAgreement),
          tests: byTest(checks, checkAgreement).map(row => ({
            ...row.about,
            checkId: row.counts[0]!.checkId!,
            passRate: passRateOf(row.counts, live, judge),
          })),
        },
        scenarios: {
          ...scenarioAgreement(scenarios),
          judges: byJudge(scenarios, scenarioAgreement),
          tests: byTest(scenarios, scenarioAgreement).map(({ about }) => about),
        },
      };
    },
  });
}

/**
 * The corrected pass rates of checks in this time, by `keyOfCheck`: of each check whose results are all of one version, which is
 * labeled enough.
 */
export async function correctedRates(
  deps: AgreementDeps,
  { agentId, testId }: { agentId: string; testId?: string | undefined },
  span: { from: Date; to: Date },
): Promise<Map<string, { passed: number; failed: number; corrected: CorrectedRate }>> {
  const { db } = deps;
  const { projectId } = found(await findAgent(db, agentId));
  const filters = { projectId, agentId, testId };
  const [counts, live, judge] = await Promise.all([
    countLabels(db, filters),
    countLive(db, filters, span),
    findJudgeNow(deps, projectId),
  ]);
  const rates = byTest(counts, checkAgreement).flatMap(({ counts }) => {
    const { corrected, passed, failed } = passRateOf(counts, live, judge);
    return corrected ? [[keyOfCheck(counts[0]!), { passed, failed, corrected }] as const] : [];
  });
  return new Map(rates);
}

export const keyOfCheck = ({ testId, checkId }: { testId: string | null; checkId: string | null }) =>
  JSON.stringify([testId, checkId]);

/** The judge that answers now: only its own errors are known from its labels. */
async function findJudgeNow(
  { db, vault, environmentJudge }: AgreementDeps,
  projectId: string,
): Promise<LabelJudge | null> {
  const stored = await findJudgeConnection(db, vault, projectId);
  const connection = stored?.connection ?? environmentJudge;
  return connection && { provider: connection.provider, model: connection.model, promptVersion };
}

function byJudge<A extends Agreement>(counts: CountedLabels[], agreementOf: (of: CountedAnswers[]) => A) {
  const keyOf = ({ provider, model, promptVersion }: LabelJudge) =>
    JSON.stringify([provider, model, promptVersion]);
  return [...Map.groupBy(counts, keyOf).values()].map(ofJudge => {
    const { provider, model, promptVersion } = ofJudge[0]!;
    return { provider, model, promptVersion, ...agreementOf(ofJudge) };
  });
}

/** By test version and check, the latest label first. */
function byTest<A extends Agreement>(counts: CountedLabels[], agreementOf: (of: CountedAnswers[]) => A) {
  const keyOf = ({ testId, testVersion, checkId }: CountedLabels) =>
    JSON.stringify([testId, testVersion, checkId]);
  return [...Map.groupBy(counts, keyOf).values()].map(ofTest => {
    const { testId, agentId, testName: name, testVersion } = ofTest[0]!;
    return { counts: ofTest, about: { testId, agentId, name, testVersion, ...agreementOf(ofTest) } };
  });
}

function passRateOf(
  counts: CountedLabels[],
  live: LiveCounts[],
  judge: LabelJudge | null,
): CheckRow["passRate"] {
  const { testId, testVersion, checkId } = counts[0]!;
  const { passed, failed } = live.find(
    one => one.testId === testId && one.testVersion === testVersion && one.checkId === checkId,
  ) ?? { passed: 0, failed: 0 };
  const ofJudge = counts.filter(
    one =>
      one.provider === judge?.provider &&
      one.model === judge.model &&
      one.promptVersion === judge.promptVersion,
  );
  const corrected = correctedRate({ passed, failed }, checkAgreement(ofJudge));
  const results = passed + failed;
  return {
    ...{ passed, failed, rate: results > 0 ? passed / results : null },
    corrected: typeof corrected === "string" ? null : corrected,
    uncorrected: typeof corrected === "string" ? corrected : null,
  };
}
