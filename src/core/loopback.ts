// Names and addresses of this machine itself, which lead nowhere else.

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/;

/** True for a name of this machine itself, as in a setting or as in an address of the web. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host);
}
