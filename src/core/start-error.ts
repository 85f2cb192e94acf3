// Errors that keep a process from starting.

/** An error whose message tells the operator in words why the process cannot start. */
export class StartError extends Error {}
