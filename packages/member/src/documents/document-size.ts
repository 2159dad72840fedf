/** Largest document that a user may store. */
export const documentBytesMax = 16 * 1024 * 1024
