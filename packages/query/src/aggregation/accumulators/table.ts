/** The accumulators of $group: every one that is understood has its row here. */
import type { AccumulatorOperator } from './accumulator.js'
import { pickAccumulators } from './pick.js'
import { sumAccumulators } from './sum.js'

export const accumulatorOperators: ReadonlyMap<string, AccumulatorOperator> = new Map(
  [...sumAccumulators, ...pickAccumulators].map((row) => [row.name, row]),
)
