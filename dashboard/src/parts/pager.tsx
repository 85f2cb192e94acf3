// Pages by time: back to the newest, on to older ones.

import { Button } from "@mantine/core";
import { t } from "../texts.ts";

interface PagerProps {
  /** The place at which this page begins; undefined on the newest page. */
  readonly before: string | undefined;
  /** The place at which the next page begins; null on the last page. */
  readonly next: string | null;
  readonly go: (before: string | undefined) => void;
}

export function Pager({ before, next, go }: PagerProps) {
  return (
    <>
      <Button
        size="xs"
        variant="default"
        disabled={before === undefined}
        onClick={() => go(undefined)}
      >
        {t.usage.newest}
      </Button>
      <Button
        size="xs"
        variant="default"
        disabled={next === null}
        onClick={() => go(next ?? undefined)}
      >
        {t.usage.older}
      </Button>
    </>
  );
}

/** The row below a table that leads to the other pages of its rows. */
export function PagerRow(props: PagerProps) {
  return (
    <div className="row table-foot" data-end="">
      <Pager {...props} />
    </div>
  );
}
