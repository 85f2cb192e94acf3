// The interface between a maps call and whatever serves its action.

import type { Fetch } from "../../../upstream/upstream-http.ts";
import type { MapsAction, ParametersOf } from "../actions.ts";
import type { DataOf } from "../maps-replies.ts";
import type { MapsServer } from "../servers.ts";

export interface MapsAnswer<A extends MapsAction> {
  readonly data: DataOf<A>;
  /** What the licences of the sources ask to be shown with the data, one line for each source. */
  readonly attribution: readonly string[];
}

export interface AskOptions {
  /** The caller's account: servers are shared fairly between accounts. */
  readonly account: string;
  /** Aborted when the caller is gone or a time limit struck; the upstream request ends with it. */
  readonly signal: AbortSignal;
}

/** Why a provider cannot serve what is asked for. */
export interface Unable {
  /** The name of the parameter that it cannot honour. */
  readonly parameter: string;
  /** What it can do instead, after the parameter's name: "must be airport". Never a value. */
  readonly problem: string;
}

/** How a provider serves one action. */
export interface Service<A extends MapsAction> {
  /**
   * Whether it can honour every parameter. Where it cannot, it is passed over; where none can, the
   * caller is told why. A parameter is never silently ignored.
   */
  readonly unable?: (parameters: ParametersOf<A>) => Unable | null;
  /**
   * One attempt, without retries. Nothing found is an answer. Throws a RouteFailure when it did not
   * serve, so that the next provider is asked, and an ApiError when the request is at fault.
   */
  readonly ask: (parameters: ParametersOf<A>, options: AskOptions) => Promise<MapsAnswer<A>>;
}

/** The actions that a provider serves. */
export type Services = { readonly [A in MapsAction]?: Service<A> };

/** What a remote kind makes of a configured server; it sends nothing until it is asked. */
export type ConnectServer = (server: MapsServer, deps: { readonly fetch: Fetch }) => Services;

/** An answer, and the kind of the provider that gave it. */
export interface MapsReply<A extends MapsAction> extends MapsAnswer<A> {
  readonly provider: string;
}

/** Serves an action by its providers in order. */
export interface MapsProvider {
  /**
   * Throws what is known without asking anybody: the `maps_unavailable` that names the setting,
   * when nobody serves the action, and `invalid_parameter` when no provider can honour the
   * parameters.
   */
  check<A extends MapsAction>(action: A, parameters: ParametersOf<A>): void;
  /** Throws an ApiError: those of `check`, and `upstream_unreachable` when nobody answered. */
  ask<A extends MapsAction>(
    action: A,
    parameters: ParametersOf<A>,
    options: AskOptions,
  ): Promise<MapsReply<A>>;
}
