// Shows that figures are loading, that they cannot be loaded, or that they are old. A zero never
// means "not loaded".

import { Button, Skeleton } from "@mantine/core";
import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { RequestError, serverTime } from "../api/client.ts";
import { t } from "../texts.ts";
import { clockTime, isoOf } from "../time.ts";
import { Notice, Panel } from "./panel.tsx";

interface LoadedProps<T> {
  readonly query: UseQueryResult<T>;
  readonly children: (data: T) => ReactNode;
  /** The height that the area will have, roughly. */
  readonly height?: number;
}

/**
 * Shows the data of a query, or the reason why it has none. Marks data that could not be renewed.
 */
export function Loaded<T>({ query, children, height = 180 }: LoadedProps<T>) {
  const { data, error, dataUpdatedAt, refetch } = query;
  if (data === undefined && error !== null) {
    return <Failure error={error} retry={() => void refetch()} />;
  }
  if (data === undefined) return <Placeholder height={height} />;
  return (
    <>
      {error !== null && (
        <Notice tone="held" action={<RetryButton retry={() => void refetch()} />}>
          {t.states.delayed(clockTime(isoOf(serverTime(dataUpdatedAt))))} {error.message}
        </Notice>
      )}
      {children(data)}
    </>
  );
}

/** Grey shapes where figures will be. */
export function Placeholder({ height }: { readonly height: number }) {
  return (
    <div className="stack" aria-busy="true" role="status" aria-label={t.states.loading}>
      <Skeleton height={height} radius={11} />
      <Skeleton height={Math.round(height / 2)} radius={11} />
    </div>
  );
}

interface FailureProps {
  readonly error: Error;
  readonly retry?: () => void;
}

/** Shows the failure of a request, with the id that support can look up. */
export function Failure({ error, retry }: FailureProps) {
  const known = error instanceof RequestError ? error : null;
  return (
    <Panel>
      <div className="empty" role="alert">
        <p className="strong">{t.states.failed}</p>
        <p>{error.message}</p>
        {known !== null && known.code !== "unreachable" && (
          <p className="tiny dim mono">
            {known.status} {known.code}
            {known.requestId !== null && ` · ${known.requestId}`}
          </p>
        )}
        {retry !== undefined && <RetryButton retry={retry} />}
      </div>
    </Panel>
  );
}

function RetryButton({ retry }: { readonly retry: () => void }) {
  return (
    <Button variant="default" size="xs" onClick={retry}>
      {t.actions.retry}
    </Button>
  );
}

interface EmptyProps {
  readonly title: string;
  readonly children: ReactNode;
}

/** Shown in place of an empty list: it names the way to fill the list. */
export function Empty({ title, children }: EmptyProps) {
  return (
    <div className="empty">
      <p className="strong">{title}</p>
      {children}
    </div>
  );
}
