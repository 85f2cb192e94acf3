// Reads the headers that name the forms and languages a client takes.

/** True if a header such as Accept-Encoding names this choice, and does not weigh it with 0. */
export function takes(accepts: string, choice: string): boolean {
  return accepts.split(",").some((one) => {
    const [name = "", ...parameters] = one.split(";").map((part) => part.trim().toLowerCase());
    return name === choice && !parameters.some((part) => /^q=0(\.0*)?$/.test(part));
  });
}
