// A list of the operators' pages, a page of it at a time. Place and choice are in the address.

import { SegmentedControl } from "@mantine/core";
import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Loaded } from "../parts/loaded.tsx";
import { PagerRow } from "../parts/pager.tsx";
import { useFields } from "../search-fields.ts";
import { ot } from "../texts/operator.ts";

interface PagedProps<Reply> {
  readonly query: UseQueryResult<Reply>;
  readonly height?: number;
  /** The rows of this page. */
  readonly children: (reply: Reply) => ReactNode;
}

/** The rows of a reply, and the way to newer and older ones. */
export function Paged<Reply extends { readonly next: string | null }>({
  query,
  height = 240,
  children,
}: PagedProps<Reply>) {
  const [fields, change] = useFields();
  return (
    <Loaded query={query} height={height}>
      {(reply) => (
        <>
          {children(reply)}
          <PagerRow before={fields.before} next={reply.next} go={(before) => change({ before })} />
        </>
      )}
    </Loaded>
  );
}

interface StateChoiceProps<State extends string> {
  /** The field of the address that has it. */
  readonly field: "state" | "status";
  readonly states: readonly State[];
  readonly value: State;
  readonly labelOf: (state: State) => string;
}

/** Chooses which rows are shown, and goes back to the newest of them. */
export function StateChoice<State extends string>({
  field,
  states,
  value,
  labelOf,
}: StateChoiceProps<State>) {
  const [, change] = useFields();
  return (
    <SegmentedControl
      size="xs"
      aria-label={ot.columns.state}
      data={states.map((one) => ({ value: one, label: labelOf(one) }))}
      value={value}
      onChange={(chosen) => change({ [field]: chosen, before: undefined })}
    />
  );
}
