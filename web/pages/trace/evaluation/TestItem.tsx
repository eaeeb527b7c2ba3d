// One test: its outcome, why it ran, whether it has changed since, and its checks.

import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { ListedTest } from "../../../../src/http/test-cases/schemas.ts";
import type { RunDetail } from "../../../../src/http/traces/run-schemas.ts";
import type { Check, Result } from "../../../../src/model/run/run.ts";
import { passiveBehaviors, whys } from "../../../labels.ts";
import { reasonText } from "../../../reasons.ts";
import { Badge } from "../../../ui/Badge.tsx";
import { Button } from "../../../ui/Button.tsx";
import { Copy } from "../../../ui/Copy.tsx";
import { Dialog } from "../../../ui/Dialog.tsx";
import { Notice } from "../../../ui/Notice.tsx";
import { CheckItem } from "./CheckItem.tsx";
import { changesOf } from "./changes.ts";
import { useTrace } from "./context.ts";
import { type Folds, placeId } from "./folds.ts";
import { ResultStateControl } from "./ResultState.tsx";
import { Scenario } from "./Scenario.tsx";
import { checksText, freshIdentity, testWord } from "./words.ts";

type TestItemProps = {
  result: Result;
  /** Those shown, worst first. */
  checks: Check[];
  applicability: RunDetail["tests"][number] | undefined;
  /** The current test; null: deleted; undefined: not known. */
  now: ListedTest | null | undefined;
  folds: Folds;
};

export function TestItem({ result, checks, applicability, now, folds }: TestItemProps) {
  const { params } = useTrace();
  const { testId, name, outcome, test, testVersion } = result;
  const open = folds.isOpen(testId);
  const left = result.checks.length - checks.length;
  const changes = now ? changesOf(test, now) : [];
  return (
    <li className="test" id={placeId(testId)} data-outcome={outcome}>
      <div className="test-head">
        <Button
          look="plain"
          small
          icon="chevron"
          aria-expanded={open}
          aria-label={`Checks of “${name}”`}
          onClick={() => folds.fold(!open, testId)}
        />
        <h3 title={name}>
          {now === null ? (
            <bdi>{name}</bdi>
          ) : (
            <Link to="/projects/$projectId/agents/$agentId/tests/$testId" params={{ ...params, testId }}>
              <bdi>{name}</bdi>
            </Link>
          )}
        </h3>
        <Badge word={testWord(result)} />
      </div>
      <p className="quiet small test-line">
        {result.checks.length > 0 && `${checksText(result)} · `}
        {passiveBehaviors[test.passiveBehavior].text}
        {applicability && applicability.why !== "always_run" && ` · ${whys[applicability.why]}`}
        {testVersion !== null && testVersion !== undefined && ` · version ${testVersion}`}
        {changes.length > 0 && " · changed since"}
        {now === null && " · deleted since"}
      </p>
      {open && (
        <div className="stack test-body">
          {result.checks.length === 0 && outcome !== "skipped" && <p>{reasonText(result)}</p>}
          {checks.length > 0 && (
            <ul className="checks" aria-label={`Checks of ${name}`}>
              {checks.map(check => (
                <CheckItem
                  key={check.id}
                  check={check}
                  result={result}
                  open={folds.isOpen(testId, check.id)}
                  onFold={open => folds.fold(open, testId, check.id)}
                />
              ))}
            </ul>
          )}
          {left > 0 && (
            <p className="quiet small">{left === 1 ? "1 passed check" : `${left} passed checks`} hidden.</p>
          )}
          {(changes.length > 0 || now === null) && <Changed result={result} changes={changes} now={now} />}
          {applicability && applicability.why !== "always_run" && (
            <Scenario testId={testId} name={name} scenario={test.scenario} applicability={applicability} />
          )}
        </div>
      )}
      {outcome === "failed" && now !== null && <ResultStateControl testId={testId} name={name} />}
    </li>
  );
}

type ChangedProps = { result: Result; changes: string[]; now: ListedTest | null | undefined };

function Changed({ result, changes, now }: ChangedProps) {
  const [shown, setShown] = useState(false);
  const versions =
    result.testVersion && now?.version
      ? ` Version ${result.testVersion} was used; the current one is ${now.version}.`
      : "";
  const json = JSON.stringify(result.test, null, 2);
  return (
    <Notice tone="info">
      <p>
        {changes.length === 0
          ? "The test was deleted since this run."
          : `The test changed since this run: ${changes.join(", ")}.${versions} ${freshIdentity}`}
      </p>
      <Button look="link" onClick={() => setShown(true)}>
        Show the test as it was
      </Button>
      {shown && (
        <Dialog title={`“${result.name}” at the time of this run`} onClose={() => setShown(false)}>
          <div className="snippet">
            <pre>{json}</pre>
          </div>
          <div className="line line-end">
            <Copy text={json}>Copy</Copy>
          </div>
        </Dialog>
      )}
    </Notice>
  );
}
