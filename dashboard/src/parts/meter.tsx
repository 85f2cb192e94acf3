// Shows the used part of a limit.

import { countText } from "../numbers.ts";

interface MeterProps {
  readonly used: number;
  readonly most: number;
  readonly label: string;
  /** True if the label and the figures stand above the bar. */
  readonly shown?: boolean;
}

export function Meter({ used, most, label, shown = false }: MeterProps) {
  const percent = most > 0 ? Math.min(100, (used / most) * 100) : 0;
  const isFull = most > 0 && used >= most;
  return (
    <div>
      {shown && (
        <div className="row small" data-apart="">
          <span className="dim">{label}</span>
          <span className="tabular">
            {countText(used)} / {countText(most)}
          </span>
        </div>
      )}
      {/* biome-ignore lint/a11y/useSemanticElements: browsers draw a meter of their own */}
      <div
        className="meter"
        role="meter"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={most}
        aria-valuenow={Math.min(used, most)}
        {...(isFull && { "data-full": "" })}
      >
        <i style={{ width: `${percent}%` }} />
      </div>
    </div>
  );
}
