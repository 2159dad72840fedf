import type { Modifier } from '../modifier.js'
import { arithmeticModifiers } from './arithmetic.js'
import { arrayModifiers } from './arrays.js'
import { fieldModifiers } from './fields.js'
import { pushAllModifier, pushModifier } from './push.js'

export const updateModifiers: ReadonlyMap<string, Modifier> = new Map(
  [...fieldModifiers, ...arithmeticModifiers, ...arrayModifiers, pushModifier, pushAllModifier].map((row) => [
    row.name,
    row,
  ]),
)
