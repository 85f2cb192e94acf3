// The fixed values of sign-in that others need too: the list of endpoints, the command line. They
// stand apart from better-auth, which takes a fifth of a second to load: only a process that serves
// the console does.

export const AUTH_PATH = "/console/auth";
/** For how long a mailed code is right. */
export const CODE_SECONDS = 5 * 60;
/** How many mailed codes a browser may enter for each code that it asked for. */
export const CODE_TRIES_MAX = 5;
/** How many wrong codes in a row lock the second factor of a person. */
export const WRONG_FACTORS_MAX = 10;
/** For how long the second factor of a person is refused after too many wrong codes. */
export const LOCKED_SECONDS = 15 * 60;

// Paths of better-auth that others need.
export const SIGN_IN_PATH = "/sign-in/email";
export const CHANGE_PASSWORD_PATH = "/change-password";

// Paths of our own inside better-auth.
export const SIGN_UP_PATH = "/farebox/sign-up";
export const VERIFY_PATH = "/farebox/verify";
export const LINK_PATH = "/farebox/link";
export const SSO_BEGIN_PATH = "/farebox/sso/begin";
export const SSO_PATH = "/farebox/sso";
export const PASSKEY_BEGIN_PATH = "/farebox/passkey/begin";
export const PASSKEY_PATH = "/farebox/passkey";

/** The paths at which better-auth makes a session after our own second factor. */
export const AFTER_SECOND_FACTOR = /^\/(?:two-factor\/verify-|farebox\/passkey$)/;

/** Headers that only auth-endpoints.ts writes; what a client sends under these names is dropped. */
export const IP_HEADER = "x-farebox-ip";
/** Present if the request was sent on this machine. */
export const LOCAL_HEADER = "x-farebox-local";
export const DEVICE_HEADER = "x-farebox-device";

/** The name under which a sign-in link is stored. */
export const linkName = (token: string) => `link:${token}`;
