// Holds the fixed values of sign-in that other modules need too: the list of endpoints, the command
// line. The values are kept apart from better-auth, which takes a fifth of a second to load: only a
// process that serves the console loads it.

export const AUTH_PATH = "/console/auth";
/** A mailed code is valid for this long. */
export const CODE_SECONDS = 5 * 60;
/** The number of mailed codes that a browser may enter for each code that it asked for. */
export const CODE_TRIES_MAX = 5;
/** This many wrong codes in a row lock the second factor of a person. */
export const WRONG_FACTORS_MAX = 10;
/** After too many wrong codes, the second factor of a person is refused for this long. */
export const LOCKED_SECONDS = 15 * 60;

// Paths of better-auth that other modules need.
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

/**
 * Headers that only auth-endpoints.ts writes; a client's own headers of these names are dropped.
 */
export const IP_HEADER = "x-farebox-ip";
/** Present if the request was sent on this machine. */
export const LOCAL_HEADER = "x-farebox-local";
export const DEVICE_HEADER = "x-farebox-device";

/** The name under which a sign-in link is stored. */
export const linkName = (token: string) => `link:${token}`;
