// The least length of a password; the server has the same rule.

export const PASSWORD_MIN = 10;
