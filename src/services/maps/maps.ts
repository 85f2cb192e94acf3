// The life of a maps call: admit with its exact price, ask a provider, settle.

import type { Settlement } from "../../../actors/account.ts";
import { takeHold } from "../../calls/admission.ts";
import { type Call, type CallDeps, outcomeOf } from "../../calls/call.ts";
import { waitForProvider } from "../../calls/first-answer.ts";
import { giveBack, type Settled, settleWith } from "../../calls/settling.ts";
import { OK } from "../../core/errors.ts";
import { charge, type NanoUsd } from "../../core/money/money.ts";
import type { MapsAction, ParametersOf } from "./actions.ts";
import type { MapsProvider, MapsReply } from "./providers/provider.ts";

/** The dependencies of the maps use case. */
export interface MapsCallDeps extends CallDeps {
  readonly maps: MapsProvider;
}

/** A checked call of one action, with its price. */
export interface MapsCall<A extends MapsAction> {
  readonly action: A;
  readonly parameters: ParametersOf<A>;
  readonly cost: NanoUsd;
  readonly priceVersion: string;
}

/** A call, and the function that writes its answer for the caller. */
export interface AnsweredMaps<A extends MapsAction, Answer> extends MapsCall<A> {
  readonly write: (reply: MapsReply<A>, paid: Settlement) => Answer;
}

/**
 * Answers a call. The call costs nothing if no provider answered, or if the caller disconnected
 * before the answer. "Nothing found" is an answer and is charged like any other.
 */
export async function askMaps<A extends MapsAction, Answer>(
  deps: MapsCallDeps,
  call: Call,
  { action, parameters, cost, priceVersion, write }: AnsweredMaps<A, Answer>,
): Promise<Settled<Answer>> {
  const hold = await takeHold(deps, call, {
    scope: "maps",
    service: "maps",
    model: action,
    bound: cost,
    priceVersion,
    freeEligible: false,
    stream: false,
  });
  try {
    const options = { account: call.identity.accountId, signal: call.signal };
    const ask = () => deps.maps.ask(action, parameters, options);
    const reply = await waitForProvider(deps, call, ask);
    const end = outcomeOf(deps, call, { status: OK, errorCode: null });
    const { provider: lane, buying } = reply;
    const outcome = {
      ...end,
      lane,
      ...(buying !== undefined && { upstreamCost: charge([[1, buying]]) }),
    };
    return await settleWith(
      deps,
      { hold, cost, outcome, call },
      { write: (paid) => write(reply, paid) },
    );
  } catch (error) {
    return await giveBack(deps, call, { hold, failure: error });
  }
}
