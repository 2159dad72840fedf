import { accumulatorFunctions } from './accumulators.js'
import { calculusFunctions } from './calculus.js'
import { positionFunctions } from './position.js'
import type { WindowFunction } from './window-function.js'

export const windowFunctions: ReadonlyMap<string, WindowFunction> = new Map(
  [...accumulatorFunctions, ...calculusFunctions, ...positionFunctions].map((row) => [row.name, row]),
)
