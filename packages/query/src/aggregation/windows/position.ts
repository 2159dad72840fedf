import {
  BsonType,
  CommandError,
  compareValues,
  FieldIterator,
  isEmptyDocument,
  nullValue,
  type RawValue,
} from '@shardlab/bson'
import { exactInteger, smallestInteger } from '../../values/arithmetic.js'
import { formatField } from '../../values/format.js'
import { sortKeyValues } from '../../sort/sort-pattern.js'
import { typeOf } from '../expressions/arguments.js'
import { add, divide, multiply, subtract } from '../expressions/operators/numbers/arithmetic.js'
import { boundsOf, endpointsAt } from './bounds.js'
import {
  checkOthers,
  compileInput,
  failedToParse,
  unknownArgument,
  type ComputedField,
  type Partition,
  type WindowContext,
  type WindowFunction,
  type WindowSpecification,
} from './window-function.js'

function end(name: '$first' | '$last', at: 0 | 1): WindowFunction {
  return {
    name,
    manualPage: `aggregation/${name.slice(1)}`,
    status: 'complete',
    compile(specification, context) {
      const bounds = boundsOf(specification, context, (field) => `${name} got unexpected argument: ${field}`)
      const input = compileInput(specification.argument, context)
      return (partition) => {
        const values = partition.evaluate(input)
        return values.map((_, index) => {
          const window = endpointsAt(bounds, partition, index)
          return window === null ? nullValue : values[window[at]]
        })
      }
    },
  }
}

function compileShift(specification: WindowSpecification, context: WindowContext): ComputedField {
  const { argument } = specification
  if (specification.window !== null) throw failedToParse("$shift does not accept a 'window' field")
  checkOthers(specification, unknownArgument)
  if (argument.type !== BsonType.object) throw failedToParse('Argument to $shift must be an object')
  let output: RawValue | null = null
  let by: number | null = null
  let fallback: RawValue | undefined = nullValue
  for (const it = new FieldIterator(argument.bytes, argument.start); it.next();) {
    const value = it.value()
    switch (it.name()) {
      case 'output':
        output = value
        break
      case 'by':
        by = Number(shiftOf(value))
        break
      case 'default': {
        const { constant } = compileInput(value, context)
        if (constant === null) throw failedToParse("'$shift:default' expression must yield a constant value.")
        fallback = constant.value
        break
      }
      default:
        throw failedToParse('Unknown argument in $shift')
    }
  }
  if (output === null) throw failedToParse("$shift requires an 'output' expression.")
  if (by === null) throw failedToParse("$shift requires 'by' as an integer value.")
  if (context.sort === null) throw failedToParse("'$shift' requires a sortBy")
  const expression = compileInput(output, context)
  const offset = by
  return (partition) => {
    const values = partition.evaluate(expression)
    return values.map((_, index) => {
      const at = index + offset
      return at >= 0 && at < values.length ? values[at] : fallback
    })
  }
}

function shiftOf(value: RawValue): bigint {
  const integer = exactInteger(value)
  if (integer === null || BigInt.asIntN(32, integer) !== integer)
    throw failedToParse(`'$shift:by' field must be an integer, but found  ${formatField('by', value)}`)
  return integer
}

/** @param next the rank of a document from the rank of the previous one */
function rank(name: string, next: (last: number, index: number, isNew: boolean) => number): WindowFunction {
  return {
    name,
    manualPage: `aggregation/${name.slice(1)}`,
    status: 'complete',
    compile({ argument, window, others }, { sort, evaluation }) {
      if (window !== null || others.length > 0)
        throw new CommandError(5371601, 'Rank style window functions take no other arguments')
      if (argument.type !== BsonType.object || !isEmptyDocument(argument.bytes, argument.start))
        throw new CommandError(5371603, `${name} must be specified with '{}' as the value`)
      if (sort?.parts.length !== 1)
        throw new CommandError(
          5371602,
          `${name} must be specified with a top level sortBy expression with exactly one element`,
        )
      const isSame = (a: RawValue | undefined, b: RawValue | undefined) =>
        (nullish(a) && nullish(b)) || compareValues(a, b, evaluation.strings) === 0
      return (partition) => {
        let last = 0
        // For an array, the element that it is sorted by.
        const keys = partition.documents.map((document) => sortKeyValues(document, sort, evaluation.strings)[0])
        return keys.map((value, index, values) => {
          last = next(last, index, index === 0 || !isSame(values[index - 1], value))
          return smallestInteger(last)
        })
      }
    },
  }
}

const nullish = (value: RawValue | undefined) => value === undefined || value.isNullish()

function withoutWindow(
  name: string,
  compile: (input: (partition: Partition) => (RawValue | undefined)[], context: WindowContext) => ComputedField,
): WindowFunction {
  return {
    name,
    manualPage: `aggregation/${name.slice(1)}`,
    status: 'complete',
    compile(specification, context) {
      checkOthers(specification, unknownArgument)
      if (specification.window !== null) throw failedToParse(`'window' field is not allowed in ${name}`)
      const input = compileInput(specification.argument, context)
      return compile((partition) => partition.evaluate(input), context)
    },
  }
}

const locf = withoutWindow('$locf', (input) => (partition) => {
  let last: RawValue = nullValue
  return input(partition).map((value) => {
    if (value !== undefined && !value.isNullish()) last = value
    return last
  })
})

const linearFill = withoutWindow('$linearFill', (input, { sort }) => {
  if (sort?.parts.length !== 1)
    throw new CommandError(
      605001,
      '$linearFill must be specified with a top level sortBy expression with exactly one element',
    )
  return (partition) => {
    const values = input(partition)
    const places = partition.sortValues
    const known: number[] = []
    values.forEach((value, index) => {
      checkFillable(value, places[index], places[index - 1], index)
      if (!nullish(value)) known.push(index)
    })
    let next = 0
    return values.map((value, index) => {
      while (next < known.length && known[next]! < index) next++
      if (!nullish(value)) return value
      const [before, after] = [known[next - 1], known[next]]
      return before === undefined || after === undefined
        ? nullValue
        : interpolate(places[before]!, values[before]!, places[after]!, values[after]!, places[index]!)
    })
  }
})

function checkFillable(
  value: RawValue | undefined,
  place: RawValue | undefined,
  before: RawValue | undefined,
  index: number,
): void {
  const isDate = (given: RawValue | undefined) =>
    given?.type === BsonType.date || given?.type === BsonType.timestamp || given?.type === BsonType.objectId
  const mismatch = (message: string) => new CommandError('TypeMismatch', message)
  if (!nullish(value) && !value!.isNumber())
    throw mismatch(`Value to be filled must be numeric or nullish, but found ${typeOf(value)}`)
  if (!place?.isNumber() && !isDate(place))
    throw mismatch(`Value of the sortBy field must be numeric or a date, but found ${typeOf(place)}`)
  if (index === 0) return
  if (compareValues(place, before) === 0)
    throw new CommandError(6050106, 'There can be no repeated values in the sort field')
  if (place?.isNumber() !== before?.isNumber())
    throw mismatch(
      `Conflicting sort value types, previously received type ${typeOf(before)}, but found ${typeOf(place)}`,
    )
}

/** y1 + (x - x1) * ((y2 - y1) / (x2 - x1)) */
function interpolate(x1: RawValue, y1: RawValue, x2: RawValue, y2: RawValue, x: RawValue): RawValue {
  return add([y1, multiply([subtract([x, x1]), divide([subtract([y2, y1]), subtract([x2, x1])])])])
}

export const positionFunctions: readonly WindowFunction[] = [
  end('$first', 0),
  end('$last', 1),
  { name: '$shift', manualPage: 'aggregation/shift', status: 'complete', compile: compileShift },
  rank('$rank', (last, index, isNew) => (isNew ? index + 1 : last)),
  rank('$denseRank', (last, _index, isNew) => (isNew ? last + 1 : last)),
  rank('$documentNumber', (_last, index) => index + 1),
  locf,
  linearFill,
]
