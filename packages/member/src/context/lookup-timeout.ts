/** A member that does not describe itself in this time is assumed to be down. */
export const lookupTimeoutMs = 500
