// What the models of judges cost: the project's own prices, to be edited, and those that come with the service.

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { flushSync } from "react-dom";
import type { JudgePrices } from "../../../src/http/judge/schemas.ts";
import type { OwnPrice } from "../../../src/model/judge/prices.ts";
import type { Failure } from "../../api.ts";
import { moneyText } from "../../money.ts";
import { savePrices } from "../../mutations/judge.ts";
import { judgePricesQuery, projectJudgeQuery } from "../../queries/project-judge.ts";
import "../../styles/judge.css";
import { Button } from "../../ui/Button.tsx";
import { FailureNotice, Notice } from "../../ui/Notice.tsx";
import { EmptyState, Loaded } from "../../ui/State.tsx";
import { toast } from "../../ui/Toast.tsx";
import { type DraftPrice, draftOf, PriceRows, priceOf } from "./PriceRows.tsx";
import { ProjectFrame } from "./ProjectFrame.tsx";
import { providers } from "./providers.ts";

const route = getRouteApi("/member/projects/$projectId/settings/prices");

export function ProjectPricesPage() {
  const { projectId } = route.useParams();
  const prices = useQuery(judgePricesQuery(projectId));
  return (
    <ProjectFrame part="Prices">
      <p className="quiet">
        In US dollars per million tokens. A call counts with the price that held on its day; where none is
        known, its tokens are counted and no money.
      </p>
      <Loaded query={prices}>
        {data => (
          <>
            <Own key={projectId} projectId={projectId} own={data.own} />
            <BuiltIn prices={data.builtIn} />
          </>
        )}
      </Loaded>
    </ProjectFrame>
  );
}

function Own({ projectId, own }: { projectId: string; own: OwnPrice[] }) {
  const queries = useQueryClient();
  const { data: judge } = useQuery(projectJudgeQuery(projectId));
  const [drafts, setDrafts] = useState(() => own.map(draftOf));
  const [faults, setFaults] = useState<ReadonlyMap<string, string>>(new Map());
  const [failure, setFailure] = useState<Failure>();
  const [busy, setBusy] = useState(false);
  const section = useRef<HTMLElement>(null);
  const changed = JSON.stringify(drafts.map(priceOf)) !== JSON.stringify(own);

  const change = (next: DraftPrice[]) => {
    setDrafts(next);
    setFaults(new Map());
  };
  const save = async () => {
    setBusy(true);
    setFailure(undefined);
    const answer = await savePrices(projectId, drafts.map(priceOf));
    setBusy(false);
    if (answer.ok) {
      queries.setQueryData(judgePricesQuery(projectId).queryKey, answer.value);
      setDrafts(answer.value.own.map(draftOf));
      return toast("The prices are saved.");
    }
    const { issues = [] } = answer.failure;
    flushSync(() => setFaults(new Map(issues.map(({ path, message }) => [path, message]))));
    section.current?.querySelector<HTMLElement>("[aria-invalid]")?.focus();
    if (issues.length === 0) setFailure(answer.failure);
  };
  const add = () => {
    const model = drafts.some(one => one.model === judge?.model) ? "" : (judge?.model ?? "");
    flushSync(() =>
      change([...drafts, draftOf({ model, validFrom: new Date().toISOString().slice(0, 10) })]),
    );
    section.current?.querySelector<HTMLElement>("tbody tr:last-child input")?.focus();
  };
  const remove = (at: number) => {
    flushSync(() => change(drafts.toSpliced(at, 1)));
    // That of the next one, or the one that adds.
    section.current?.querySelectorAll("button")[at]?.focus();
  };
  return (
    <section className="card stack" aria-labelledby="prices-own" ref={section}>
      <h2 id="prices-own">This project’s prices</h2>
      <p className="quiet">They come before those below. What was counted before a change stays as it was.</p>
      {drafts.length === 0 ? (
        <EmptyState icon="none" title="None of its own">
          <p className="quiet">
            Add one for a model that is not listed below, or that you pay another price for.
          </p>
        </EmptyState>
      ) : (
        <PriceRows drafts={drafts} faults={faults} onChange={change} onRemove={remove} />
      )}
      {faults.size > 0 && (
        <Notice tone="bad" role="alert">
          Nothing was saved: correct what is marked.
        </Notice>
      )}
      <FailureNotice failure={failure} />
      <div className="line line-apart">
        <Button icon="plus" onClick={add}>
          Add a price
        </Button>
        <div className="line">
          {changed && <Button onClick={() => change(own.map(draftOf))}>Discard changes</Button>}
          <Button look="main" busy={busy || !changed} onClick={() => void save()}>
            Save
          </Button>
        </div>
      </div>
    </section>
  );
}

function BuiltIn({ prices }: { prices: JudgePrices["builtIn"] }) {
  return (
    <section className="card stack" aria-labelledby="prices-built-in">
      <h2 id="prices-built-in">Built in</h2>
      {prices.length === 0 ? (
        <p className="quiet">
          This version comes without prices. Calls are counted in tokens until the project has a price for
          their model.
        </p>
      ) : (
        <>
          <p className="quiet">
            As the providers published them on these days. Check them against your bill.
          </p>
          <div className="table-wrap">
            <table className="table">
              <caption className="unseen">Prices that come with the service</caption>
              <thead>
                <tr>
                  <th scope="col">Model</th>
                  <th scope="col">Provider</th>
                  <th scope="col">From</th>
                  <th scope="col" className="number">
                    In
                  </th>
                  <th scope="col" className="number">
                    Out
                  </th>
                </tr>
              </thead>
              <tbody>
                {prices.map(({ provider, model, validFrom, inputUsd, outputUsd }) => (
                  <tr key={`${provider} ${model} ${validFrom}`}>
                    <th scope="row">
                      <code>{model}</code>
                    </th>
                    <td data-label="Provider">{providers[provider].label}</td>
                    <td data-label="From">{validFrom}</td>
                    <td data-label="In" className="number">
                      {moneyText(inputUsd)}
                    </td>
                    <td data-label="Out" className="number">
                      {moneyText(outputUsd)}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </>
      )}
    </section>
  );
}
