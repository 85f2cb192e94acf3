// Endpoints of the operators' console. To everybody else there is no such path; an operator needs a
// second factor, and an address that is allowed.

import { ConsoleError } from "../../core/console-errors.ts";
import type { RawRequest } from "../frame.ts";
import {
  answerPage,
  type ConsoleAnswer,
  type ConsoleEndpoint,
  type ConsoleFrameDeps,
  type ConsoleInfo,
  type ConsoleInput,
  countRequest,
  NONE,
  type PersonContext,
  readInput,
} from "./console-endpoint.ts";

/** What the frame needs for any endpoint of operators. */
export interface OperatorFrameDeps extends ConsoleFrameDeps {
  readonly operators: {
    /** True if operators are allowed in from this address. */
    readonly isAllowedFrom: (ip: string) => boolean;
    /** True if operators must sign in through the provider of single sign-on. */
    readonly mustUseSso: boolean;
  };
  /** Answers as if there were no such path. */
  readonly noSuchPath: (raw: RawRequest) => Promise<Response>;
}

/** A request of an operator. */
export type OperatorContext<Deps> = PersonContext<Deps>;

interface OperatorDefinition<Deps, Input> extends ConsoleInfo, ConsoleInput<Input> {
  readonly run: (context: OperatorContext<Deps>, input: Input) => Promise<ConsoleAnswer>;
}

/** Defines an endpoint for operators alone. */
export function operatorEndpoint<Deps extends OperatorFrameDeps, Input = undefined>(
  definition: OperatorDefinition<Deps, Input>,
): ConsoleEndpoint<Deps> {
  const { run, ...info } = definition;
  return {
    ...info,
    ...NONE,
    access: "operator",
    role: null,
    async answer(deps, raw) {
      const person = await deps.people.signedIn(raw.request.headers);
      if (person === null || !person.isOperator) return await deps.noSuchPath(raw);
      return await answerPage(deps, raw, async (visitor) => {
        if (!deps.operators.isAllowedFrom(visitor.clientIp)) {
          throw new ConsoleError(
            "operator_address",
            `Operators are not allowed in from ${visitor.clientIp}: see OPERATOR_ALLOWED_IPS`,
          );
        }
        if (deps.operators.mustUseSso && !person.isBySso) {
          throw new ConsoleError("sso_required", "Operators must sign in through single sign-on");
        }
        if (!person.hasTwoFactor) {
          throw new ConsoleError("second_factor_required", "Set up your second factor first");
        }
        countRequest(visitor, person);
        const context = { ...visitor, person };
        return await run(context, await readInput(context, info));
      });
    },
  };
}
