/** The window functions of $setWindowFields: every one that is understood has its row here. */
import { accumulatedFunctions } from './accumulated.js'
import { calculusFunctions } from './calculus.js'
import { placedFunctions } from './placed.js'
import type { WindowFunction } from './window-function.js'

export const windowFunctions: ReadonlyMap<string, WindowFunction> = new Map(
  [...accumulatedFunctions, ...calculusFunctions, ...placedFunctions].map((row) => [row.name, row]),
)
