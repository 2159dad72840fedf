/**
 * A server of this machine was reached by one of its own names. A name of another site could lead
 * to it, too.
 * @param host of an HTTP request
 */
export const isLocalHost = (host: string | undefined): boolean => /^(127\.0\.0\.1|localhost)(:\d+)?$/.test(host ?? '')
