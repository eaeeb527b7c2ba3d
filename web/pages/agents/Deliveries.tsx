// The deliveries of an agent's webhook: state, answer, attempts and next try of each.
import { useInfiniteQuery } from "@tanstack/react-query";
import type { Delivery } from "../../../src/http/alerts/schemas.ts";
import { counted, deliveryWord } from "../../labels.ts";
import { deliveriesQuery } from "../../queries/alerts.ts";
import { Badge } from "../../ui/Badge.tsx";
import { Loaded, MorePages } from "../../ui/State.tsx";
import { NextTry, RelativeTime } from "../../ui/Time.tsx";

const sendingMs = 1_000;
const idleMs = 15_000;

export function Deliveries({ agentId }: { agentId: string }) {
  const query = useInfiniteQuery({
    ...deliveriesQuery(agentId),
    refetchInterval: ({ state }) =>
      state.data?.pages.some(({ items }) => items.some(isSending)) ? sendingMs : idleMs,
  });
  return (
    <div className="stack-tight">
      <h3>Deliveries</h3>
      <Loaded query={query}>
        {items =>
          items.length === 0 ? (
            <p className="quiet">No messages sent yet. Deliveries are listed for 30 days.</p>
          ) : (
            <ul className="deliveries">
              {items.map(delivery => (
                <li key={delivery.id}>
                  <DeliveryRow delivery={delivery} />
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
      <MorePages query={query} />
    </div>
  );
}

function DeliveryRow({ delivery }: { delivery: Delivery }) {
  const { kind, createdAt, attempts, status, error, nextTryAt } = delivery;
  return (
    <>
      <div className="line line-apart">
        <span className="line">
          <Badge word={deliveryWord(delivery)} />
          {kind === "test" ? "Test message" : "Alert"}
        </span>
        <span className="quiet small">
          <RelativeTime at={createdAt} />
        </span>
      </div>
      <p className="quiet small break">
        {error ?? (status !== null && `Answered ${status}.`)}
        {attempts > 0 && ` ${counted(attempts, "attempt")}`}
        {error !== null && nextTryAt !== null && (
          <>
            , <NextTry at={nextTryAt} />
          </>
        )}
      </p>
    </>
  );
}

/** Its first attempt has not ended. */
function isSending({ state, error }: Delivery): boolean {
  return state === "pending" && error === null;
}
