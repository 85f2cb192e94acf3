// Recognises names and addresses of this machine itself.

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/;

/** True for a name of this machine itself, in a setting or in a web address. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host);
}
