// Panels and the head of a page.

import type { ReactNode } from "react";

interface PanelProps {
  readonly title?: ReactNode;
  readonly aside?: ReactNode;
  readonly className?: string;
  readonly children: ReactNode;
}

/** A white or raised area with a one-pixel line around it. */
export function Panel({ title, aside, className, children }: PanelProps) {
  return (
    <section className={className === undefined ? "panel" : `panel ${className}`}>
      {(title !== undefined || aside !== undefined) && (
        <div className="panel-head">
          {title !== undefined && <h2>{title}</h2>}
          {aside !== undefined && <div className="small dim">{aside}</div>}
        </div>
      )}
      {children}
    </section>
  );
}

interface PageHeadProps {
  readonly title: string;
  readonly about?: ReactNode;
  readonly children?: ReactNode;
}

/** The title of a page, a line about it, and its actions. */
export function PageHead({ title, about, children }: PageHeadProps) {
  return (
    <header className="page-head">
      <div>
        <h1>{title}</h1>
        {about !== undefined && <p className="dim small">{about}</p>}
      </div>
      {children !== undefined && <div className="page-actions">{children}</div>}
    </header>
  );
}

interface NoticeProps {
  readonly tone?: Tone;
  readonly children: ReactNode;
  readonly action?: ReactNode;
}

export type Tone = "paid" | "free" | "held" | "owed" | "plain";

/** A line that needs attention, with the remedy. */
export function Notice({ tone = "plain", children, action }: NoticeProps) {
  return (
    <div className="notice" data-tone={tone} role={tone === "owed" ? "alert" : "status"}>
      <div className="small">{children}</div>
      {action}
    </div>
  );
}

/** A short word on a tint: a state. */
export function Tag({ tone = "plain", children }: { tone?: Tone; children: ReactNode }) {
  return (
    <span className="tag" data-tone={tone}>
      {children}
    </span>
  );
}

/** Pairs of a name and a value, the values aligned to the right. */
export function Facts({ rows }: { rows: readonly (readonly [ReactNode, ReactNode])[] }) {
  return (
    <dl className="facts">
      {rows.map(([name, value], index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the rows of a list that never reorders
        <FactRow key={index} name={name} value={value} />
      ))}
    </dl>
  );
}

function FactRow({ name, value }: { name: ReactNode; value: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </>
  );
}
