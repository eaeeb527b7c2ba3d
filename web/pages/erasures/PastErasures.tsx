// The erasures of a project: who, when, by what kind of criterion, and how many traces.
import { useInfiniteQuery } from "@tanstack/react-query";
import type { Erasure } from "../../../src/http/projects/erasure-schemas.ts";
import { erasuresQuery } from "../../queries/erasures.ts";
import { Badge } from "../../ui/Badge.tsx";
import { Loaded, MorePages } from "../../ui/State.tsx";
import { MomentTime } from "../../ui/Time.tsx";
import { criteria, erasureStates, progressText, tracesText } from "./words.ts";

const pollMs = 2_000;

export function PastErasures({ projectId }: { projectId: string }) {
  const erasures = useInfiniteQuery({
    ...erasuresQuery(projectId),
    refetchInterval: ({ state: { data } }) =>
      data?.pages.some(({ items }) => items.some(({ state }) => state === "running")) ? pollMs : false,
  });
  return (
    <section className="stack">
      <h2>Past erasures</h2>
      <Loaded query={erasures}>
        {items =>
          items.length === 0 ? (
            <p className="quiet">None yet. What is erased is not kept, only who erased how much, and when.</p>
          ) : (
            <>
              <ul className="card stack">
                {items.map(erasure => (
                  <Past key={erasure.id} erasure={erasure} />
                ))}
              </ul>
              <MorePages query={erasures} />
            </>
          )
        }
      </Loaded>
    </section>
  );
}

function Past({ erasure }: { erasure: Erasure }) {
  const { criterion, state, erased, error, createdAt, createdBy } = erasure;
  return (
    <li className="stack-tight">
      <div className="line line-apart">
        <h3>
          {criteria[criterion].label}: {tracesText(erased)}
        </h3>
        <Badge word={erasureStates[state]} />
      </div>
      <p className="quiet small break">
        <MomentTime at={createdAt} /> · {createdBy ?? "deleted account"}
      </p>
      {state === "running" && <p className="small">{progressText(erasure)}</p>}
      {error && <p className="small break">{error}</p>}
    </li>
  );
}
