// "as of 14:03:22 UTC, 0.4 s behind": how old the figures of a page are.

import { countText, decimalText } from "../numbers.ts";
import { t } from "../texts.ts";
import { clockTime, UTC, zoneLabel } from "../time.ts";

interface AsOfProps {
  readonly value: { readonly at: string; readonly behind_seconds: number } | undefined;
  readonly zone?: string;
}

/** Says until when the figures are complete; a line of dots before there are any. */
export function AsOf({ value, zone = UTC }: AsOfProps) {
  if (value === undefined) return <span>{t.states.asOfLoading}</span>;
  const seconds = value.behind_seconds;
  const behind = seconds < 10 ? decimalText(seconds, 1) : countText(Math.round(seconds));
  const time = clockTime(value.at, zone);
  return (
    <span className="tabular" title={value.at}>
      {t.states.asOf(time, zoneLabel(zone, new Date(value.at)), behind)}
    </span>
  );
}
