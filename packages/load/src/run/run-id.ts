import { customAlphabet } from 'nanoid'

/** Without letters and digits that people confuse. */
export const newRunId = customAlphabet('23456789abcdefghjkmnpqrstuvwxyz', 8)
