// Draws every table of the pages.

import type { ReactNode } from "react";
import { t } from "../texts.ts";
import type { Column } from "./columns.tsx";

interface TableProps<Row> {
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** The name of the table for readers of the screen, where no heading names it. */
  readonly label?: string;
  /** The text in place of the table if there are no rows. */
  readonly none?: string;
  /** Called for the row that somebody clicks. */
  readonly open?: (row: Row) => void;
  /** True for a row that stands out: it is open, or it is the reader's own. */
  readonly isOpen?: (row: Row) => boolean;
  /** The cells of the last line, with the sums. */
  readonly total?: readonly ReactNode[];
}

export function Table<Row>(props: TableProps<Row>) {
  const { columns, rows, keyOf, label, none = t.states.noRows, total } = props;
  if (rows.length === 0) return <p className="small dim">{none}</p>;
  return (
    <div className="table-scroll">
      <table className="table" aria-label={label}>
        <thead>
          <tr>{columns.map(headOf)}</tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)} {...marksOf(row, props)}>
              {columns.map(({ id, show, className }) => (
                <td key={id} className={className}>
                  {show(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
        {total !== undefined && (
          <tfoot>
            <tr>
              {columns.map(({ id, className }, index) => (
                <td key={id} className={className}>
                  {total[index]}
                </td>
              ))}
            </tr>
          </tfoot>
        )}
      </table>
    </div>
  );
}

/** A column of buttons has no title, so the cell above them is no heading. */
function headOf({ id, title, isNumber }: Column<never>) {
  if (title === "") return <td key={id} />;
  return (
    <th key={id} scope="col" className={isNumber ? "num" : undefined}>
      {title}
    </th>
  );
}

function marksOf<Row>(row: Row, { open, isOpen }: TableProps<Row>) {
  return {
    ...(open !== undefined && { "data-click": "", onClick: () => open(row) }),
    ...(isOpen?.(row) && { "data-open": "" }),
  };
}
