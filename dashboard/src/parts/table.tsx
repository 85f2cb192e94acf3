// Draws the table of a page: the names of its columns, and below them the rows that the page gives.

import type { ReactNode } from "react";

interface TableProps {
  /** The names of the columns. An empty name is that of a column of buttons, which has none. */
  readonly columns: readonly (string | NumberColumn)[];
  /** The rows, as `tr` elements. */
  readonly children: ReactNode;
}

interface NumberColumn {
  readonly number: string;
}

export function Table({ columns, children }: TableProps) {
  return (
    <div className="table-scroll">
      <table className="table">
        <thead>
          <tr>{columns.map(headOf)}</tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

function headOf(column: string | NumberColumn) {
  if (column === "") return <td key="" />;
  if (typeof column === "string") {
    return (
      <th key={column} scope="col">
        {column}
      </th>
    );
  }
  return (
    <th key={column.number} className="num">
      {column.number}
    </th>
  );
}
