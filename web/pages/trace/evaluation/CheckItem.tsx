// One check: its rule, its outcome and why, where it looked, and what to do next.
import { Link } from "@tanstack/react-router";
import type { FunctionComponent } from "react";
import type { Check, Result } from "../../../../src/model/run/run.ts";
import type { Assertion } from "../../../../src/model/test-case/assertion.ts";
import { checkTypes, outcomes } from "../../../labels.ts";
import { reasonText } from "../../../reasons.ts";
import { Badge } from "../../../ui/Badge.tsx";
import { Button } from "../../../ui/Button.tsx";
import { Icon } from "../../../ui/Icon.tsx";
import { useCopyLink } from "../links.ts";
import { details } from "./CheckDetail.tsx";
import { useTrace } from "./context.ts";
import { EvidenceChips } from "./Evidence.tsx";
import { placeId } from "./folds.ts";
import { type Found, foundOf } from "./found-text.ts";
import { Missing } from "./Missing.tsx";
import { Rule } from "./rule.tsx";
import { Long, Value } from "./Value.tsx";
import { checkWord, freshIdentity, skipAdvice } from "./words.ts";

type CheckItemProps = { check: Check; result: Result; open: boolean; onFold: (open: boolean) => void };

export function CheckItem({ check, result, open, onFold }: CheckItemProps) {
  const assertion = result.test.assertions.find(({ id }) => id === check.id);
  const { type, outcome } = check;
  const { onSelect } = useTrace();
  const copyLink = useCopyLink();
  return (
    <li className="check" data-outcome={outcome}>
      <div className="check-top">
        <h4>
          <button
            type="button"
            className="check-head"
            id={placeId(result.testId, check.id)}
            aria-expanded={open}
            onClick={() => onFold(!open)}
          >
            <Icon name="chevron" />
            <Badge word={checkWord(check)} />
            <span>{checkTypes[type]}</span>
          </button>
        </h4>
        {onSelect && (
          <Button
            small
            look="plain"
            icon="link"
            aria-label={`Copy link to “${check.id}”`}
            title="Copy link to this check"
            onClick={() => copyLink({ test: result.testId, check: check.id })}
          />
        )}
      </div>
      {assertion?.description && (
        <p>
          <Long text={assertion.description} />
        </p>
      )}
      {assertion && (
        <p className="rule">
          <Rule assertion={assertion} threshold={result.test.threshold} />
        </p>
      )}
      {open && <CheckBody check={check} assertion={assertion} result={result} />}
    </li>
  );
}

type CheckBodyProps = { check: Check; assertion: Assertion | undefined; result: Result };

function CheckBody({ check, assertion, result }: CheckBodyProps) {
  const { outcome, evidence, skipped } = check;
  const found: Found = assertion ? foundOf(check, assertion) : { text: reasonText(check) };
  const detail = assertion && skipped !== "dependency" && outcome !== "missing_instrumentation" && (
    <Detail check={check} assertion={assertion} result={result} />
  );
  // The sentence may introduce what the detail shows.
  const isIntroduced = found.text.endsWith(":");
  return (
    <div className="check-body">
      <p className="found">
        <Long text={found.text} />
        {"value" in found && (
          <>
            {" "}
            <Value value={found.value} />
          </>
        )}
      </p>
      {isIntroduced && detail}
      <EvidenceChips evidence={evidence} />
      {outcome === "skipped" && <Skip check={check} assertion={assertion} result={result} />}
      {assertion && outcome === "missing_instrumentation" && <Missing check={check} assertion={assertion} />}
      {!isIntroduced && detail}
    </div>
  );
}

type DetailProps = { check: Check; assertion: Assertion; result: Result };

function Detail(props: DetailProps) {
  // Each entry takes assertions of its own type, as this one is.
  const Shown = details[props.assertion.type] as FunctionComponent<DetailProps>;
  return <Shown {...props} />;
}

/** The trace's notices have a button for these. */
const rerunnable = ["judge_unavailable", "judge_unusable", "budget"];

/** Skips that the agent's settings can prevent. */
const settingsOf: Partial<Record<NonNullable<Check["skipped"]>, string>> = {
  budget: "Change the daily budget",
  not_sampled: "Change the sampling rate",
};

function Skip({
  check,
  assertion,
  result,
}: Omit<DetailProps, "assertion"> & { assertion: Assertion | undefined }) {
  const { onSelect, params } = useTrace();
  if (!check.skipped) return null;
  const isRerunnable = rerunnable.includes(check.skipped);
  // A dry-run is repeated by its own button.
  const again = onSelect && freshIdentity;
  return (
    <>
      {check.skipped === "dependency" && <Dependency assertion={assertion} result={result} />}
      <p className="quiet">
        {skipAdvice[check.skipped]}{" "}
        {!["no_judge", "dependency", "waiting", "not_sampled", "does_not_apply"].includes(check.skipped) &&
          !isRerunnable &&
          again}
      </p>
      {settingsOf[check.skipped] && (
        <p>
          <Link to="/projects/$projectId/agents/$agentId/settings" params={params}>
            {settingsOf[check.skipped]}
          </Link>
        </p>
      )}
      {check.skipped === "no_judge" && (
        <>
          <p>
            <Link to="/projects/$projectId/settings/judge" params={{ projectId: params.projectId }}>
              Set up a judge
            </Link>
          </p>
          {again && <p className="quiet">{again}</p>}
        </>
      )}
    </>
  );
}

/** The check that this one depends on: the first dependency that did not pass. */
function Dependency({ assertion, result }: { assertion: Assertion | undefined; result: Result }) {
  const { trace, params, onSelect, onShow } = useTrace();
  const waited = assertion?.depends_on
    .map(id => result.checks.find(check => check.id === id))
    .find(check => check && check.outcome !== "passed");
  if (!waited) return null;
  const { testId } = result;
  const name = `${checkTypes[waited.type]} “${waited.id}”`;
  return (
    <p>
      Depends on{" "}
      {onSelect ? (
        <Link
          to="/projects/$projectId/agents/$agentId/traces/$traceId"
          params={{ ...params, traceId: trace.id }}
          search={now => ({ ...now, test: testId, check: waited.id })}
          replace
          resetScroll={false}
          onClick={() => onShow(testId, waited.id)}
        >
          {name}
        </Link>
      ) : (
        name
      )}
      : <Badge word={outcomes[waited.outcome]} />
    </p>
  );
}
