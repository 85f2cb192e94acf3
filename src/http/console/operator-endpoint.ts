// Defines endpoints of the operators' console. Other people get the answer to an unknown path. An
// operator needs a second factor and an allowed address.

import { ConsoleError } from "../../core/console-errors.ts";
import type { RawRequest } from "../frame.ts";
import {
  answerFramed,
  type ConsoleDefinition,
  type ConsoleEndpoint,
  type ConsoleFrameDeps,
  counted,
  described,
  type PersonContext,
  type VisitorContext,
} from "./console-endpoint.ts";
import type { SignedIn } from "./people.ts";

/** The dependencies of the frame, for any endpoint of operators. */
export interface OperatorFrameDeps extends ConsoleFrameDeps {
  readonly operators: {
    /** True if operators are allowed in from this address. */
    readonly isAllowedFrom: (ip: string) => boolean;
    /** True if operators must sign in through the provider of single sign-on. */
    readonly mustUseSso: boolean;
  };
  /** Answers like an unknown path. */
  readonly noSuchPath: (raw: RawRequest) => Promise<Response>;
}

/** A request of an operator. */
export type OperatorContext<Deps> = PersonContext<Deps>;

/** Defines an endpoint that only operators can use. */
export function operatorEndpoint<Deps extends OperatorFrameDeps, Input = undefined>(
  definition: ConsoleDefinition<OperatorContext<Deps>, Input>,
): ConsoleEndpoint<Deps> {
  return {
    ...described(definition, "operator"),
    async answer(deps, raw) {
      const person = await deps.people.signedIn(raw.request.headers);
      if (person === null || !person.isOperator) return await deps.noSuchPath(raw);
      const enter = async (visitor: VisitorContext<Deps>) => enterAsOperator(visitor, person);
      return await answerFramed(deps, raw, { ...definition, enter });
    },
  };
}

/** @throws ConsoleError if the operator's address or session is not allowed */
function enterAsOperator<Deps extends OperatorFrameDeps>(
  visitor: VisitorContext<Deps>,
  person: SignedIn,
): OperatorContext<Deps> {
  const { operators } = visitor.deps;
  if (!operators.isAllowedFrom(visitor.clientIp)) {
    throw new ConsoleError(
      "operator_address",
      `Operators are not allowed in from ${visitor.clientIp}: see OPERATOR_ALLOWED_IPS`,
    );
  }
  if (operators.mustUseSso && !person.isBySso) {
    throw new ConsoleError("sso_required", "Operators must sign in through single sign-on");
  }
  if (!person.hasTwoFactor) {
    throw new ConsoleError("second_factor_required", "Set up your second factor first");
  }
  return counted(visitor, person);
}
