import { BsonType, CommandError, findField, typeName } from '@shardlab/bson'
import { javaScriptError } from '../expressions/operators/unavailable.js'
import type { AccumulatorOperator } from './accumulator.js'
import { deviationAccumulators } from './deviation.js'
import { percentileAccumulators } from './percentile.js'
import { pickAccumulators } from './pick.js'
import { topNAccumulators } from './top-n.js'
import { sumAccumulators } from './sum.js'

const neededOfAccumulator: readonly (readonly [field: string, code: number])[] = [
  ['init', 4544707],
  ['accumulate', 4544708],
  ['merge', 4544709],
  ['accumulateArgs', 4544710],
]

const scripted: AccumulatorOperator = {
  name: '$accumulator',
  manualPage: 'aggregation/accumulator',
  status: 'partial',
  missing: 'everything, like a server without JavaScript',
  // The server fails on the first group, not while it parses.
  create() {
    throw javaScriptError()
  },
  evaluatedOf(argument) {
    if (argument.type !== BsonType.object)
      throw new CommandError(
        4544703,
        `$accumulator expects an object as an argument; found: ${typeName(argument.type)}`,
      )
    for (const [field, code] of neededOfAccumulator)
      if (findField(argument.bytes, field, argument.start) === undefined)
        throw new CommandError(code, `$accumulator missing required argument '${field}'`)
    return findField(argument.bytes, 'accumulateArgs', argument.start)!
  },
}

export const accumulatorOperators: ReadonlyMap<string, AccumulatorOperator> = new Map(
  [
    ...sumAccumulators,
    ...pickAccumulators,
    ...deviationAccumulators,
    ...topNAccumulators,
    ...percentileAccumulators,
    scripted,
  ].map((row) => [row.name, row]),
)
