// Collects this process's view of the servers of all services: the servers that are given up for
// now, each for one subject. Other processes have their own view.

/** One subject on one server: a model, or an action. */
export interface ServerView {
  readonly server: string;
  readonly subject: string;
  /** False while the server is given up: it gets no requests. */
  readonly isPassable: boolean;
  /** Failures since the last success. */
  readonly failures: number;
}

/** Sends requests to servers and remembers their results. */
export interface BoardMember {
  views(): readonly ServerView[];
}

/** The views of all board members of this process. */
export class UpstreamBoard {
  readonly #members: (BoardMember & { readonly service: string })[] = [];

  /** Called once for each service, when it is made. */
  add(service: string, member: BoardMember): void {
    this.#members.push({ service, views: () => member.views() });
  }

  /** Every server that got a request since it was configured, by service. */
  servers(): (ServerView & { readonly service: string })[] {
    return this.#members.flatMap(({ service, views }) =>
      views().map((view) => ({ service, ...view })),
    );
  }
}
