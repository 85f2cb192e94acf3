// A page of either app is a row of the table of its app, and a file. The route, the navigation and
// the keyboard follow from the row; the title is a text with the name of the row.

import { lazyRouteComponent } from "@tanstack/react-router";

export interface PageRow<Group extends string = string> {
  /** The heading of the navigation below which the page is listed. */
  readonly group: Group;
  /** The letter that opens the page after `g`. */
  readonly letter?: string;
  readonly load: Load;
  /** The name of the component in the file. */
  readonly component: string;
}

// The type of a component would follow from the type of its links, which follows from the router.
type Load = () => Promise<Record<string, unknown>>;

/** The options of the route of a page. */
export function pageOptions({ load, component }: Pick<PageRow, "load" | "component">) {
  return {
    validateSearch: textSearch,
    component: lazyRouteComponent(load as () => Promise<Record<string, never>>, component),
  };
}

/** Any text in the address; a page reads the fields that it knows and leaves the others. */
function textSearch(search: Record<string, unknown>): Record<string, string | undefined> {
  const fields = Object.entries(search).filter(([, value]) => value !== null && value !== "");
  return Object.fromEntries(fields.map(([name, value]) => [name, String(value)]));
}

/** The names of the rows in the order of the table. */
export function namesOf<Name extends string>(rows: Readonly<Record<Name, unknown>>): Name[] {
  return Object.keys(rows) as Name[];
}

/** The pages below each heading of the navigation, in the order of the table. */
export function groupsOf<Name extends string, Group extends string>(
  rows: Readonly<Record<Name, Pick<PageRow<Group>, "group">>>,
): { readonly group: Group; readonly pages: readonly Name[] }[] {
  const names = namesOf(rows);
  const groups = [...new Set(names.map((name) => rows[name].group))];
  return groups.map((group) => ({
    group,
    pages: names.filter((name) => rows[name].group === group),
  }));
}
