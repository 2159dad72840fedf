import { BsonType, emptyDocument, int32Value, isEmptyDocument, type RawValue } from '@shardlab/bson'
import { smallestInteger } from '../../values/arithmetic.js'
import { ValueList } from '../../values/value-store.js'
import type { Accumulator } from '../accumulators/accumulator.js'
import { accumulatorOperators } from '../accumulators/table.js'
import { compileExpression } from '../expressions/compile.js'
import { boundsOf, endpointsAt, type Endpoints, type WindowBounds } from './bounds.js'
import {
  compileInput,
  failedToParse,
  unknownArgument,
  type ComputedField,
  type Partition,
  type WindowContext,
  type WindowFunction,
  type WindowSpecification,
} from './window-function.js'

export interface WindowAccumulator {
  inputs(partition: Partition): readonly (RawValue | undefined)[]
  readonly create: () => Pick<Accumulator, 'add' | 'result'>
  /** For windows whose lower end moves: there the server returns another type. */
  readonly removable?: (result: RawValue) => RawValue
}

export function accumulateOver(bounds: WindowBounds, accumulator: WindowAccumulator): ComputedField {
  return (partition) => {
    const inputs = accumulator.inputs(partition)
    return bounds.lower === 'unbounded'
      ? growing(bounds, accumulator, partition, inputs)
      : sliding(bounds, accumulator, partition, inputs)
  }
}

/** Documents never leave the window: one accumulator serves the whole partition. */
function growing(
  bounds: WindowBounds,
  { create }: WindowAccumulator,
  partition: Partition,
  inputs: readonly (RawValue | undefined)[],
): RawValue[] {
  const accumulator = create()
  const results: RawValue[] = []
  let added: Endpoints = null
  let result = accumulator.result()
  for (let index = 0; index < partition.size; index++) {
    const window = endpointsAt(bounds, partition, index)
    if (window !== null) {
      const from: number = added === null ? window[0] : added[1] + 1
      for (let i = from; i <= window[1]; i++) accumulator.add(inputs[i])
      if (from <= window[1]) {
        result = accumulator.result()
        added = window
      }
    }
    results.push(result)
  }
  return results
}

function sliding(
  bounds: WindowBounds,
  { create, removable }: WindowAccumulator,
  partition: Partition,
  inputs: readonly (RawValue | undefined)[],
): RawValue[] {
  const results: RawValue[] = []
  let last: { window: Endpoints; result: RawValue } | null = null
  for (let index = 0; index < partition.size; index++) {
    const window = endpointsAt(bounds, partition, index)
    if (last === null || window?.[0] !== last.window?.[0] || window?.[1] !== last.window?.[1]) {
      const accumulator = create()
      if (window !== null) for (let i = window[0]; i <= window[1]; i++) accumulator.add(inputs[i])
      const result = accumulator.result()
      last = { window, result: removable === undefined ? result : removable(result) }
    }
    results.push(last.result)
  }
  return results
}

function narrowed(sum: RawValue): RawValue {
  return sum.type === BsonType.int64 && BigInt.asIntN(32, sum.asBigInt()) === sum.asBigInt()
    ? smallestInteger(sum.asNumber())
    : sum
}

function compileAccumulator(
  specification: WindowSpecification,
  context: WindowContext,
  unexpected: (field: string) => string,
): ComputedField {
  const { name, argument } = specification
  const operator = accumulatorOperators.get(name)!
  const bounds = boundsOf(specification, context, unexpected)
  const input = compileInput(operator.evaluatedOf(argument), context)
  const count = operator.countOf?.(argument)
  const n = count === undefined ? undefined : compileExpression(count, context.evaluation).evaluateOn(emptyDocument)
  const create = () => operator.create(new ValueList(), context.evaluation.strings, { argument, n })
  // Throws the error about an invalid `n` even when there are no documents.
  create()
  return accumulateOver(bounds, {
    inputs: (partition) => partition.evaluate(input),
    create,
    ...(name === '$sum' ? { removable: narrowed } : {}),
  })
}

function row(
  name: string,
  unexpected: (field: string) => string,
  compile: WindowFunction['compile'] = (specification, context) =>
    compileAccumulator(specification, context, unexpected),
): WindowFunction {
  // Deviations of accumulators are about groups.
  const { manualPage } = accumulatorOperators.get(name)!
  return { name, manualPage, status: 'complete', compile }
}

/** An array as argument is an array literal, not a list of arguments. */
function simple(name: string): WindowFunction {
  return row(name, unknownArgument, (specification, context) => {
    const bounds = boundsOf(specification, context, unknownArgument)
    const input = compileInput(specification.argument, context)
    const operator = accumulatorOperators.get(name)!
    return accumulateOver(bounds, {
      inputs: (partition) => partition.evaluate(input),
      create: () =>
        operator.create(new ValueList(), context.evaluation.strings, {
          argument: specification.argument,
          n: undefined,
        }),
      ...(name === '$sum' ? { removable: narrowed } : {}),
    })
  })
}

const countFunction = row('$count', unknownArgument, (specification, context) => {
  const { argument } = specification
  if (argument.type !== BsonType.object || !isEmptyDocument(argument.bytes, argument.start))
    throw failedToParse('$count only accepts an empty object as input')
  const bounds = boundsOf(specification, context, unknownArgument)
  return accumulateOver(bounds, {
    inputs: (partition) => new Array<RawValue>(partition.size).fill(int32Value(1)),
    create: () => accumulatorOperators.get('$sum')!.create(new ValueList(), undefined),
  })
})

const nFunctions = [
  '$firstN',
  '$lastN',
  '$minN',
  '$maxN',
  '$topN',
  '$bottomN',
  '$top',
  '$bottom',
  '$median',
  '$percentile',
]

export const accumulatorFunctions: readonly WindowFunction[] = [
  ...['$sum', '$avg', '$min', '$max', '$push', '$addToSet', '$stdDevPop', '$stdDevSamp'].map(simple),
  countFunction,
  ...nFunctions.map((name) => row(name, (field) => `${name} got unexpected argument: ${field}`)),
]
