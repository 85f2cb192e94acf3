// Defines endpoints of operators' changes. Each change has an id, under which it is made once, and
// a reason; the answer is its line of the trail. The command line has its own definitions over the
// same use cases (D-641).

import type { AdministrationDeps } from "../accounts/administration.ts";
import { FORM_FIELDS } from "../core/text/form-fields.ts";
import { jsonBody } from "../http/body/json-body.ts";
import type { ConsoleEndpoint } from "../http/console/console-endpoint.ts";
import { operatorEndpoint } from "../http/console/operator-endpoint.ts";
import { replyWith } from "../http/console/record-schema.ts";
import {
  type Checked,
  shortText,
  type TObject,
  type TProperties,
  type TSchema,
  Type,
  text,
} from "../http/schema.ts";
import type { AccountRow } from "../store/accounts/accounts.ts";
import { Action, type ActionReply, actOnce, type Deed } from "./act.ts";
import { accountOf, type Context, OPERATOR_PATH, type OperatorDeps } from "./deps.ts";

const BODY_BYTES_MAX = 8 * 1_024;

/** The fields that every change carries. */
const ASK = {
  id: text({
    pattern: "^[A-Za-z0-9_-]{8,64}$",
    must: "must be 8 to 64 letters, digits, _ or -, chosen anew for each change",
    description: "The change is made once for this id, however often it is sent",
  }),
  reason: shortText(FORM_FIELDS.reason.charactersMax, {
    pattern: "\\S",
    must: `must say why, in at most ${FORM_FIELDS.reason.charactersMax} characters`,
    description: "Why; it is recorded with the change, and the account's people can read it",
  }),
};
const ASK_SAMPLE = { id: "op_7n42DGM5Tflk9n8m", reason: "Ticket 4711" };

/** The input of a change with the fields `P`. */
type ActInput<P extends TProperties> = Deed["ask"] & Checked<TObject<P>>;

interface Act<P extends TProperties> {
  /** The name in generated clients. */
  readonly id: string;
  /** The last parts of the path. */
  readonly name: string;
  readonly summary: string;
  readonly description?: string;
  /** Fields of the body besides `id` and `reason`. */
  readonly fields: P;
  /** The values of these fields in the example, and its summary. */
  readonly example?: object;
  readonly exampleSummary?: string;
  /** The most bytes of the body; by default enough for a few texts. */
  readonly bytesMax?: number;
  readonly run: (context: Context, input: ActInput<P>) => Promise<ActionReply>;
}

/** An endpoint of a change that concerns no account, or several. */
export function operatorAct<P extends TProperties>(act: Act<P>): ConsoleEndpoint<OperatorDeps> {
  const {
    name,
    fields,
    example,
    exampleSummary: summary = "Done",
    bytesMax = BODY_BYTES_MAX,
    run,
    ...words
  } = act;
  const schema: TSchema = Type.Object({ ...ASK, ...fields }, { additionalProperties: false });
  return operatorEndpoint({
    ...words,
    method: "POST",
    path: `${OPERATOR_PATH}/${name}`,
    body: jsonBody(schema, { bytesMax }),
    ...replyWith(Action, { summary, body: { ...ASK_SAMPLE, ...example } }),
    run: (context: Context, input: unknown) => run(context, input as ActInput<P>),
  });
}

interface AccountAct<P extends TProperties> extends Omit<Act<P>, "run"> {
  readonly run: (context: Context, account: AccountRow, input: ActInput<P>) => Promise<ActionReply>;
}

/** An endpoint of a change of one account. */
export function accountAct<P extends TProperties>({ name, run, ...act }: AccountAct<P>) {
  return operatorAct<P>({
    ...act,
    name: `accounts/{account}/${name}`,
    run: async (context, input) => await run(context, await accountOf(context), input),
  });
}

/** The words of a change's line in the trail, and the work of the change. */
interface Change {
  readonly about: string;
  readonly make: (deps: ChangeDeps, accountId: string) => Promise<{ readonly applied: boolean }>;
}

type ChangeDeps = AdministrationDeps & Pick<OperatorDeps, "wallets">;

interface AccountChange<P extends TProperties> extends Omit<Act<P>, "run"> {
  /** Checks the input. @throws ApiError that names the field at fault */
  readonly read: (input: ActInput<P>, deps: OperatorDeps) => Change;
}

/**
 * An endpoint of a change by one use case. The last part of the path is the name of the change in
 * the trail.
 */
export function accountChange<P extends TProperties>({ read, ...act }: AccountChange<P>) {
  return accountAct<P>({
    ...act,
    run(context, { id, number }, input) {
      const { administration, wallets } = context.deps;
      const { about, make } = read(input, context.deps);
      const action = act.name.replaceAll("-", "_");
      return actOnce(context, { ask: input, action, account: number, about }, (also) =>
        make({ ...administration, wallets, also }, id),
      );
    },
  });
}
