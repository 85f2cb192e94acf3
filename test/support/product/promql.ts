// Reads PromQL expressions by Prometheus's own grammar, and lists their metrics and labels.

import type { SyntaxNode } from "@lezer/common";
import { parser } from "@prometheus-io/lezer-promql";

/** A metric in an expression, with the labels that select its series. */
export interface Selector {
  readonly metric: string;
  readonly labels: readonly string[];
}

export interface Expression {
  readonly selectors: readonly Selector[];
  /** Labels of `by`, `without`, `on` and `ignoring`. */
  readonly grouping: readonly string[];
}

/** @throws SyntaxError for an expression that Prometheus would refuse */
export function parsePromql(text: string): Expression {
  const selectors: Selector[] = [];
  const grouping: string[] = [];
  const wordOf = ({ from, to }: Pick<SyntaxNode, "from" | "to">) => text.slice(from, to);
  parser.parse(text).iterate({
    enter(ref) {
      if (ref.type.isError) throw new SyntaxError(`At ${ref.from} of '${text}'`);
      const { node } = ref;
      if (ref.name === "VectorSelector") {
        const labels: string[] = [];
        node.cursor().iterate((inner) => {
          if (inner.name === "LabelName") labels.push(wordOf(inner));
        });
        const name = node.getChild("Identifier");
        if (name === null) throw new SyntaxError(`A selector without a metric in '${text}'`);
        selectors.push({ metric: wordOf(name), labels });
      }
      if (ref.name === "GroupingLabels") {
        grouping.push(...node.getChildren("LabelName").map(wordOf));
      }
    },
  });
  return { selectors, grouping };
}
