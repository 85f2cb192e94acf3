// Pages by time: back to the newest, on to older ones.

import { Button } from "@mantine/core";
import { t } from "../texts.ts";

interface PagerProps {
  /** Where this page begins; undefined on the newest. */
  readonly before: string | undefined;
  /** Where the next one begins; null on the last. */
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
