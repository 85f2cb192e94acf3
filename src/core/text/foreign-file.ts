// Refuses a file of another system by its line and its column or field.

/** A file that cannot be read. The message names the place of the fault and the rule. */
export class ForeignFileError extends Error {
  override readonly name = "ForeignFileError";
}

/** The place of a value in a file. */
export interface FilePlace {
  readonly file: string;
  readonly line: number;
  /** A column of CSV, or the path of a field in JSON; "" for the line as a whole. */
  readonly field: string;
}

/** Refuses the value at this place. */
export function refuseAt({ file, line, field }: FilePlace, problem: string): never {
  const at = field === "" ? "" : `, ${field}`;
  throw new ForeignFileError(`${file} line ${line}${at}: ${problem}`);
}
