// The card of the pages before sign-in.

import type { ReactNode } from "react";
import { Brand, BrandLinks } from "../parts/mark.tsx";

interface EntryCardProps {
  readonly title: string;
  readonly about?: ReactNode;
  readonly children?: ReactNode;
  /** Links to the other ways in. */
  readonly foot?: ReactNode;
}

export function EntryCard({ title, about, children, foot }: EntryCardProps) {
  return (
    <main className="entry">
      <div className="entry-card">
        <div className="brand">
          <Brand />
        </div>
        <div className="panel stack">
          <div>
            <h1>{title}</h1>
            {about !== undefined && <p className="dim small">{about}</p>}
          </div>
          {children}
        </div>
        {foot !== undefined && <div className="entry-foot small">{foot}</div>}
        <BrandLinks />
      </div>
    </main>
  );
}
