// A table of the operators' pages: columns by name, and how each row fills them.

import type { ReactNode } from "react";
import { ot } from "../texts/operator.ts";

export interface Column<Row> {
  readonly name: string;
  readonly show: (row: Row) => ReactNode;
  readonly isNumber?: boolean;
}

interface RowsProps<Row> {
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  readonly columns: readonly Column<Row>[];
  readonly label: string;
  readonly none?: string;
}

export function Rows<Row>({ rows, keyOf, columns, label, none = ot.noRows }: RowsProps<Row>) {
  if (rows.length === 0) return <p className="small dim">{none}</p>;
  return (
    <div className="table-scroll">
      <table className="table" aria-label={label}>
        <thead>
          <tr>
            {columns.map(({ name, isNumber }) => (
              <th key={name} scope="col" {...(isNumber && { className: "num" })}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ name, show, isNumber }) => (
                <td key={name} className={isNumber ? "num" : "ids"}>
                  {show(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
