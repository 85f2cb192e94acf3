// A form that this page handles itself: the browser sends nothing.

import type { ReactNode } from "react";

interface FormProps {
  readonly submit: () => unknown;
  readonly children: ReactNode;
}

export function Form({ submit, children }: FormProps) {
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      {children}
    </form>
  );
}
