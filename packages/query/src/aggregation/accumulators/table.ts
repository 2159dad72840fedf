/** The accumulators of $group: every one that is understood has its row here. */
import type { AccumulatorOperator } from './accumulator.js'
import { deviationAccumulators } from './deviation.js'
import { pickAccumulators } from './pick.js'
import { severalAccumulators } from './several.js'
import { sumAccumulators } from './sum.js'

export const accumulatorOperators: ReadonlyMap<string, AccumulatorOperator> = new Map(
  [...sumAccumulators, ...pickAccumulators, ...deviationAccumulators, ...severalAccumulators].map((row) => [row.name, row]),
)
