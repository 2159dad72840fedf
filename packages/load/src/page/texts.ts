/** A value that is not known, or that there is not. */
export const nothing = '–'

export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** @param text without a full stop */
export const sentence = (text: string): string => `${capital(text)}.`
