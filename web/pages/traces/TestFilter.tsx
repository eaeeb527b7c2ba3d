// The filter by a test case: the test, then optionally an outcome and a version of it.
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { type FormEvent, useEffect, useState } from "react";
import { counted, outcomes } from "../../labels.ts";
import { testVersionsQuery } from "../../queries/backtests.ts";
import { testQuery, testsQuery } from "../../queries/tests.ts";
import type { TraceSearch } from "../../queries/trace-search.ts";
import { Button } from "../../ui/Button.tsx";
import { Loaded, MorePages } from "../../ui/State.tsx";
import { ChoiceList } from "./ChoiceList.tsx";

type TestFilterProps = {
  agentId: string;
  search: TraceSearch;
  onSet: (values: TraceSearch) => void;
  /** Called when the panel shows something else. */
  onStep: () => void;
};

export function TestFilter({ agentId, search, onSet, onStep }: TestFilterProps) {
  const [testId, setTestId] = useState(search.testId);
  useEffect(onStep, [testId]);
  if (testId === undefined) return <TestList agentId={agentId} chosen={search.testId} onChoose={setTestId} />;
  // What was chosen of another test says nothing about this one.
  const { testOutcome, testVersion } = search.testId === testId ? search : {};
  return (
    <>
      <TestName id={testId} />
      <ChoiceList
        choices={outcomeChoices}
        chosen={search.testId === testId ? (testOutcome ?? anyOutcome) : undefined}
        onChoose={outcome =>
          onSet({ testId, testVersion, testOutcome: outcome === anyOutcome ? undefined : outcome })
        }
      />
      <VersionForm
        testId={testId}
        version={testVersion}
        onSet={version => onSet({ testId, testOutcome, testVersion: version })}
      />
      <div className="panel-form">
        <Button look="link" onClick={() => setTestId(undefined)}>
          Choose another test
        </Button>
      </div>
    </>
  );
}

const anyOutcome = "any";
const outcomeChoices = [
  { value: anyOutcome, label: "Any outcome" },
  ...Object.entries(outcomes).map(([value, { text }]) => ({ value, label: text })),
];

function TestName({ id }: { id: string }) {
  const test = useQuery(testQuery(id));
  return (
    <p className="menu-label">
      <bdi>{test.data?.name ?? (test.isPending ? "…" : "deleted test")}</bdi>
    </p>
  );
}

type VersionFormProps = {
  testId: string;
  version: string | undefined;
  onSet: (version: string | undefined) => void;
};

/** Only of tests with several versions that were evaluated. */
function VersionForm({ testId, version = "", onSet }: VersionFormProps) {
  const { data: versions = [] } = useQuery(testVersionsQuery(testId));
  const known = versions.map(({ version, counts }) => {
    const results = Object.values(counts).reduce((sum, count) => sum + count, 0);
    return { value: String(version), label: `${version} (${counted(results, "result")})` };
  });
  if (known.length < 2 && version === "") return null;
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    onSet(String(new FormData(event.currentTarget).get("version")) || undefined);
  };
  return (
    <form className="panel-form" onSubmit={submit}>
      <label className="stack-tight">
        Version of the test
        <select className="input" name="version" defaultValue={version}>
          <option value="">Any</option>
          {known.every(({ value }) => value !== version) && version !== "" && (
            <option value={version}>{version}</option>
          )}
          {known.map(({ value, label }) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </label>
      <Button type="submit" look="main">
        Apply
      </Button>
    </form>
  );
}

type TestListProps = { agentId: string; chosen: string | undefined; onChoose: (id: string) => void };

function TestList({ agentId, ...list }: TestListProps) {
  const tests = useInfiniteQuery(testsQuery(agentId));
  return (
    <Loaded query={tests}>
      {items =>
        items.length === 0 ? (
          <p className="menu-label">This agent has no test cases yet</p>
        ) : (
          <>
            <ChoiceList {...list} choices={items.map(({ id, name }) => ({ value: id, label: name }))} />
            <MorePages query={tests} />
          </>
        )
      }
    </Loaded>
  );
}
