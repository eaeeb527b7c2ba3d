// The tests with most results of missing instrumentation.
import { counted } from "../../labels.ts";
import { Section, type SectionProps, TestRow } from "./parts.tsx";

export function MissingTests({ overview: { missing, results }, params }: SectionProps) {
  return (
    <Section title="Missing instrumentation">
      {missing.length === 0 ? (
        <p className="quiet">No check lacked an attribute.</p>
      ) : (
        <>
          <p className="quiet small">Checks of these tests need attributes that the traces lack.</p>
          <ul className="overview-list">
            {missing.map(({ results: count, ...test }) => (
              <TestRow
                key={test.testId}
                test={test}
                params={params}
                within={results.now}
                outcome="missing_instrumentation"
                count={counted(count, "result")}
              />
            ))}
          </ul>
        </>
      )}
    </Section>
  );
}
