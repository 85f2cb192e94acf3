// The plans by which Postgres runs statements, for tests of their indexes.

import type { PendingQuery, Row } from "postgres";
import type { Database } from "../../../src/store/servers/database.ts";

export interface Plan {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly "Actual Rows": number;
  readonly Plans?: readonly Plan[];
}

/** Every node of the plan by which a statement ran. */
export async function planOf({ sql }: Database, statement: PendingQuery<Row[]>): Promise<Plan[]> {
  const [row] = await sql`EXPLAIN (ANALYZE, FORMAT JSON) ${statement}`;
  const [explained] = (row?.["QUERY PLAN"] ?? []) as readonly { readonly Plan: Plan }[];
  if (explained === undefined) throw new Error("Postgres explains nothing");
  const nodesOf = (node: Plan): Plan[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];
  return nodesOf(explained.Plan);
}
