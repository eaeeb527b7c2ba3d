// Token prices of judge models: the project's own prices, editable, and the built-in ones.

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { flushSync } from "react-dom";
import type { JudgePrices } from "../../../src/http/judge/schemas.ts";
import type { OwnPrice } from "../../../src/model/price/rates.ts";
import type { Failure } from "../../api.ts";
import { shortText } from "../../format.ts";
import { OutdatedNotice } from "../../forms/OutdatedNotice.tsx";
import { unmarked } from "../../forms/unmarked.ts";
import { useDraft } from "../../forms/use-draft.ts";
import { priceText } from "../../money.ts";
import { savePrices } from "../../mutations/judge.ts";
import { readNow } from "../../queries/client.ts";
import { judgePricesQuery, projectJudgeQuery } from "../../queries/project-judge.ts";
import "../../styles/judge.css";
import { Button } from "../../ui/Button.tsx";
import { FailureNotice, Notice } from "../../ui/Notice.tsx";
import { EmptyState, Loaded } from "../../ui/State.tsx";
import { toast } from "../../ui/Toast.tsx";
import { type DraftPrice, fromDraft, PriceRows, toDraft } from "./PriceRows.tsx";
import { ProjectFrame } from "./ProjectFrame.tsx";
import { providers } from "./providers.ts";

const route = getRouteApi("/member/projects/$projectId/settings/prices");
const drafting = {
  toDraft: (own: OwnPrice[]) => own.map(toDraft),
  fromDraft: (drafts: DraftPrice[]) => drafts.map(fromDraft) as OwnPrice[],
};
const isMarked = (path: string) => /^prices\[\d+\]\.\w+$/.test(path);

export function ProjectPricesPage() {
  const { projectId } = route.useParams();
  const prices = useQuery(judgePricesQuery(projectId));
  return (
    <ProjectFrame part="Prices">
      <p className="quiet">
        In US dollars per million tokens, for the models of your agents and for the judge. Each call costs the
        price valid on its day; without a known price, only its tokens are counted.
      </p>
      <Loaded query={prices}>
        {data => (
          <>
            <OwnPrices key={projectId} projectId={projectId} own={data.own} />
            <BuiltInPrices prices={data.builtIn} />
          </>
        )}
      </Loaded>
    </ProjectFrame>
  );
}

function OwnPrices({ projectId, own }: { projectId: string; own: OwnPrice[] }) {
  const queries = useQueryClient();
  const { data: judge } = useQuery(projectJudgeQuery(projectId));
  const query = judgePricesQuery(projectId);
  const {
    draft: drafts,
    isChanged,
    isOutdated,
    ...drafted
  } = useDraft(own, drafting, async () => (await readNow(queries, query)).own);
  const [faults, setFaults] = useState<ReadonlyMap<string, string>>(new Map());
  const [failure, setFailure] = useState<Failure>();
  const [busy, setBusy] = useState(false);
  const section = useRef<HTMLElement>(null);

  const change = (next: DraftPrice[]) => {
    drafted.replace(next);
    setFaults(new Map());
  };
  const discard = () => {
    drafted.discard();
    setFaults(new Map());
    setFailure(undefined);
  };
  const save = async () => {
    setBusy(true);
    setFailure(undefined);
    const answer = (await drafted.isCurrent()) && (await savePrices(projectId, drafts.map(fromDraft)));
    setBusy(false);
    if (!answer) return;
    if (answer.ok) {
      drafted.settle(drafts, answer.value.own);
      queries.setQueryData(query.queryKey, answer.value);
      return toast("Prices saved");
    }
    const { issues = [] } = answer.failure;
    flushSync(() => setFaults(new Map(issues.map(({ path, message }) => [path, message]))));
    section.current?.querySelector<HTMLElement>("[aria-invalid]")?.focus();
    setFailure(unmarked(answer.failure, isMarked));
  };
  const add = () => {
    const model = drafts.some(one => one.model === judge?.model) ? "" : (judge?.model ?? "");
    flushSync(() =>
      change([...drafts, toDraft({ model, validFrom: new Date().toISOString().slice(0, 10) })]),
    );
    section.current?.querySelector<HTMLElement>("tbody tr:last-child input")?.focus();
  };
  const remove = (at: number) => {
    flushSync(() => change(drafts.toSpliced(at, 1)));
    // Focus the remove button of the next row, or "Add price".
    section.current?.querySelectorAll("button")[at]?.focus();
  };
  return (
    <section className="card stack" aria-labelledby="prices-own" ref={section}>
      <h2 id="prices-own">This project’s prices</h2>
      <p className="quiet">
        They override the built-in prices. Costs of traces follow them, also of past ones, from the day on
        that a price is valid; past costs of the judge stay as they are.
      </p>
      {drafts.length === 0 ? (
        <EmptyState icon="none" title="No prices of your own">
          <p className="quiet">
            Add one for a model that is not listed below or that costs you a different price.
          </p>
        </EmptyState>
      ) : (
        <PriceRows drafts={drafts} faults={faults} onChange={change} onRemove={remove} />
      )}
      {[...faults.keys()].some(isMarked) && (
        <Notice tone="bad" role="alert">
          Not saved. Fix the marked fields.
        </Notice>
      )}
      <FailureNotice failure={failure} />
      <OutdatedNotice isOutdated={isOutdated} />
      <div className="line line-apart">
        <Button icon="plus" onClick={add}>
          Add price
        </Button>
        <div className="line">
          {isChanged && <Button onClick={discard}>Discard changes</Button>}
          <Button look="main" busy={busy || !isChanged} onClick={() => void save()}>
            Save
          </Button>
        </div>
      </div>
    </section>
  );
}

const asInput = <span className="quiet">as input</span>;

function BuiltInPrices({ prices }: { prices: JudgePrices["builtIn"] }) {
  return (
    <section className="card stack" aria-labelledby="prices-built-in">
      <h2 id="prices-built-in">Built-in prices</h2>
      {prices.length === 0 ? (
        <p className="quiet">
          This version has no built-in prices. Only tokens are counted until you add a price for the model.
        </p>
      ) : (
        <>
          <p className="quiet">
            As published by the providers in October 2026, for standard requests: no batches, no surcharges.
            Prompts longer than shown have no known price. Compare them with your bill.
          </p>
          <div className="table-wrap">
            <table className="table">
              <caption className="unseen">Built-in prices</caption>
              <thead>
                <tr>
                  <th scope="col">Model</th>
                  <th scope="col">Provider</th>
                  <th scope="col">From</th>
                  <th scope="col" className="number">
                    Input
                  </th>
                  <th scope="col" className="number">
                    Output
                  </th>
                  <th scope="col" className="number">
                    Cached
                  </th>
                  <th scope="col" className="number">
                    Cache write
                  </th>
                  <th scope="col" className="number">
                    Prompts up to
                  </th>
                </tr>
              </thead>
              <tbody>
                {prices.map(({ provider, model, validFrom, inputUsd, outputUsd, ...more }) => (
                  <tr key={`${provider} ${model} ${validFrom}`}>
                    <th scope="row">
                      <code>{model}</code>
                    </th>
                    <td data-label="Provider">{providers[provider].label}</td>
                    <td data-label="From">{validFrom}</td>
                    <td data-label="Input" className="number">
                      {priceText(inputUsd)}
                    </td>
                    <td data-label="Output" className="number">
                      {priceText(outputUsd)}
                    </td>
                    <td data-label="Cached" className="number">
                      {more.cachedUsd === null ? asInput : priceText(more.cachedUsd)}
                    </td>
                    <td data-label="Cache write" className="number">
                      {more.cacheWriteUsd === null ? asInput : priceText(more.cacheWriteUsd)}
                    </td>
                    <td data-label="Prompts up to" className="number">
                      {more.promptMax === null ? "any" : shortText(more.promptMax)}
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
