import type { VariantResult } from '../types.js'

export type ResultRow = readonly [name: string, of: (result: VariantResult) => string]

/** A value that a variant lacks. */
export const nothing = '–'
