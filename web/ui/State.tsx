// Loading, error and empty states, and the button for more pages.
import { type ReactNode, useEffect, useState } from "react";
import { type Failure, failureOf } from "../api.ts";
import { Button } from "./Button.tsx";
import { Icon } from "./Icon.tsx";
import type { IconName } from "./icons.ts";
import { FailureNotice } from "./Notice.tsx";

/** Placeholder bars, shown after 200 ms. */
export function Skeleton({ lines = 6 }: { lines?: number }) {
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 200);
    return () => clearTimeout(timer);
  }, []);
  if (!late) return null;
  return (
    <div className="skeleton" role="status">
      <span className="unseen">Loading</span>
      {Array.from({ length: lines }, (_, line) => (
        <span key={line} aria-hidden="true" />
      ))}
    </div>
  );
}

type ErrorStateProps = {
  failure: Failure;
  onRetry: () => void;
  /** It fills the page, so its heading is the page's `h1`. */
  whole?: boolean;
};

/** The failure with its code and request ID for support, and a retry button. */
export function ErrorState({ failure, onRetry, whole = false }: ErrorStateProps) {
  const Heading = whole ? "h1" : "h2";
  const { code, message, hint, requestId } = failure;
  return (
    <div className="state" role="alert">
      <Icon name="warning" />
      <Heading>{message}</Heading>
      {hint && <p className="quiet">{hint}</p>}
      <dl>
        <dt>Code</dt>
        <dd className="mono">{code}</dd>
        {requestId && (
          <>
            <dt>Request ID</dt>
            <dd className="mono break">{requestId}</dd>
          </>
        )}
      </dl>
      <Button onClick={onRetry}>Retry</Button>
    </div>
  );
}

type EmptyStateProps = { icon: IconName; title: string; whole?: boolean; children?: ReactNode };

/** `whole`: it fills the page, so its heading is the page's `h1`. */
export function EmptyState({ icon, title, whole = false, children }: EmptyStateProps) {
  const Heading = whole ? "h1" : "h2";
  return (
    <div className="state">
      <Icon name={icon} />
      <Heading>{title}</Heading>
      {children}
    </div>
  );
}

type Query<T> = { data: T | undefined; error: Error | null; refetch: () => unknown };

/** The content of a query, or its skeleton or failure. If refetching fails, the old content stays. */
export function Loaded<T>({ query, children }: { query: Query<T>; children: (data: T) => ReactNode }) {
  if (query.data !== undefined) return children(query.data);
  if (query.error)
    return <ErrorState failure={failureOf(query.error)} onRetry={() => void query.refetch()} />;
  return <Skeleton />;
}

type Pages = {
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  isFetchNextPageError: boolean;
  error: Error | null;
  fetchNextPage: () => unknown;
};

/** "Show more" button below a list with further pages, and why the next one could not be read. */
export function MorePages({ query }: { query: Pages }) {
  if (!query.hasNextPage) return null;
  return (
    <>
      {query.isFetchNextPageError && <FailureNotice failure={failureOf(query.error)} />}
      <div className="more">
        <Button busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
          Show more
        </Button>
      </div>
    </>
  );
}
