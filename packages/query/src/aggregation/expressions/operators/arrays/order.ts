import {
  BsonType,
  CommandError,
  compareValues,
  elementsOf,
  emptyDocument,
  FieldIterator,
  nullValue,
  type RawValue,
  type StringComparator,
} from '@shardlab/bson'
import { sortOrder } from '../../../../sort/sort-order.js'
import { parseSort } from '../../../../sort/sort-pattern.js'
import { interruptChecker } from '../../../../values/limits.js'
import { exactInteger } from '../../../../values/arithmetic.js'
import { arrayValue } from '../../../../values/build.js'
import { formatEvaluated, formatField } from '../../../../values/format.js'
import { namedOperator, typeOf, withStrings, type NamedArguments } from '../../arguments.js'
import { computed, type Expression, type ExpressionCompiler, type ExpressionOperator } from '../../expression.js'

function compileSortArray(argument: RawValue, compiler: ExpressionCompiler): Expression {
  if (argument.type !== BsonType.object)
    throw new CommandError(2942500, `$sortArray requires an object as an argument, found: ${typeOf(argument)}`)
  let input: Expression | null = null
  let sortBy: RawValue | null = null
  for (const it = new FieldIterator(argument.bytes, argument.start); it.next();) {
    if (it.name() === 'input') input = compiler.compile(it.value())
    else if (it.name() === 'sortBy') sortBy = it.value()
    else throw new CommandError(2942501, `$sortArray found an unknown argument: ${it.name()}`)
  }
  if (input === null) throw new CommandError(2942502, "$sortArray requires 'input' to be specified")
  if (sortBy === null) throw new CommandError(2942503, "$sortArray requires 'sortBy' to be specified")
  const order = elementOrder(sortBy, compiler.context.strings, interruptChecker(compiler.context))
  return computed([input], (frame) => {
    const value = input.evaluate(frame)
    if (value === undefined || value.isNullish()) return nullValue
    if (value.type !== BsonType.array)
      throw new CommandError(
        2942504,
        `The input argument to $sortArray must be an array, but was of type: ${typeOf(value)}`,
      )
    return arrayValue(order(elementsOf(value)))
  })
}

function elementOrder(
  sortBy: RawValue,
  strings: StringComparator | undefined,
  check: () => void,
): (elements: RawValue[]) => RawValue[] {
  if (sortBy.type !== BsonType.object) {
    if (!sortBy.isNumber())
      throw new CommandError(
        2942507,
        'The $sort is invalid: use 1/-1 to sort the whole element, or {field:1/-1} to sort embedded fields',
      )
    const direction = exactInteger(sortBy)
    if (direction !== 1n && direction !== -1n)
      throw new CommandError(2942506, 'The $sort element value must be either 1 or -1')
    return (elements) =>
      elements.sort((a, b) => {
        check()
        return compareValues(a, b, strings) * Number(direction)
      })
  }
  const sort = parseSort(sortBy.slice())
  if (sort.parts.length === 0) throw new CommandError('BadValue', '$sortArray sortBy must have at least one sort key')
  const order = sortOrder(sort, strings)
  return (elements) =>
    elements
      .map((element) => ({
        element,
        key: order.keyOf(element.type === BsonType.object ? element.slice() : emptyDocument),
      }))
      .sort((a, b) => {
        check()
        return order.compare(a.key, b.key)
      })
      .map(({ element }) => element)
}

/**
 * `n` of $firstN, $lastN, $maxN and $minN.
 * @throws CommandError 5787902, 5787903, 5787908
 */
export function countOperand(value: RawValue | undefined): number {
  const integer = value === undefined ? null : exactInteger(value)
  if (integer === null)
    throw new CommandError(
      value?.isNumber() ? 5787903 : 5787902,
      `Value for 'n' must be of integral type, but found ${formatEvaluated(value)}`,
    )
  if (integer <= 0n) throw new CommandError(5787908, `'n' must be greater than 0, found ${integer}`)
  return Number(integer)
}

export const countNamed = {
  fields: ['n', 'input'],
  required: {
    n: [5787906, "Missing value for 'n'"],
    input: [5787907, "Missing value for 'input'"],
  },
  unknown: (field: string) => new CommandError(5787901, `Unknown argument for 'n' operator: ${field}`),
} as const

function nOperator(
  name: string,
  notObject: number,
  pick: (elements: RawValue[], n: number, strings: StringComparator | undefined, check: () => void) => RawValue[],
): ExpressionOperator {
  const named: NamedArguments = {
    ...countNamed,
    notObject: (_, given) =>
      new CommandError(notObject, `specification must be an object; found ${formatField(name, given)}`),
  }
  return withStrings(name, (strings, check) =>
    namedOperator(name, named, ([count, input]) => {
      const n = countOperand(count)
      if (input?.type !== BsonType.array) throw new CommandError(5788200, 'Input must be an array')
      return arrayValue(pick(elementsOf(input), n, strings, check))
    }),
  )
}

const extreme =
  (direction: 1 | -1) =>
  (elements: RawValue[], n: number, strings: StringComparator | undefined, check: () => void): RawValue[] =>
    elements
      .filter((element) => !element.isNullish())
      .sort((a, b) => {
        check()
        return compareValues(a, b, strings) * direction
      })
      .slice(0, n)

export const arrayOrderExpressions: readonly ExpressionOperator[] = [
  {
    name: '$sortArray',
    manualPage: 'aggregation/sortArray',
    status: 'complete',
    compile: compileSortArray,
  },
  nOperator('$firstN', 5787801, (elements, n) => elements.slice(0, n)),
  nOperator('$lastN', 5787801, (elements, n) => elements.slice(-n)),
  nOperator('$maxN', 5787900, extreme(-1)),
  nOperator('$minN', 5787900, extreme(1)),
]
