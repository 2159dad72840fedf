/** KeyStrings as texts of messages: their order is the same. */
export const hexOfKey = (keyString: string): string => Buffer.from(keyString, 'latin1').toString('hex')

export const keyOfHex = (text: string): string => Buffer.from(text, 'hex').toString('latin1')
