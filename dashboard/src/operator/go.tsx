// Links between the pages of operators, whose addresses the dashboard's router does not know.

import { Link, useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";

interface GoProps {
  /** An address below /operator, such as `/revenue`. */
  readonly to: string;
  readonly children: ReactNode;
  readonly className?: string;
  readonly onClick?: (() => void) | undefined;
  /** True where the link leads to one page only, not to those below it. */
  readonly exact?: boolean;
}

export function Go({ to, children, className, onClick, exact = false }: GoProps) {
  return (
    <Link
      // The type of routes is that of the dashboard.
      to={to as "/"}
      activeProps={{ "data-active": "", "aria-current": "page" }}
      activeOptions={{ includeSearch: false, exact }}
      className={className}
      onClick={onClick}
    >
      {children}
    </Link>
  );
}

/** Opens a page of operators. */
export function useGo(): (to: string) => void {
  const navigate = useNavigate();
  return (to) => void navigate({ to: to as "/" });
}
