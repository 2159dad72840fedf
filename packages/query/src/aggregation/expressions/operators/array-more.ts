/** $slice, $reverseArray, $range, $zip, $indexOfArray, $sortArray, $arrayToObject, $firstN, $lastN, $maxN, $minN. */
import {
  BsonType,
  CommandError,
  compareValues,
  DocumentWriter,
  documentValue,
  elementsOf,
  FieldIterator,
  findField,
  int32Value,
  nullValue,
  type RawValue,
  type StringComparator,
} from '@shardlab/bson'
import { parseSort, sortKeyOf } from '../../../sort/sort-pattern.js'
import { exactInteger } from '../../../values/arithmetic.js'
import { arrayValue } from '../../../values/build.js'
import { formatField, formatValue } from '../../../values/format.js'
import { namedOperator, operator, typeOf, unary } from '../arguments.js'
import { computed, type Expression, type ExpressionCompiler, type ExpressionOperator } from '../expression.js'
import { searchRange } from './text.js'

function int32(value: RawValue): number | null {
  const integer = exactInteger(value)
  return integer === null || BigInt.asIntN(32, integer) !== integer ? null : Number(integer)
}

function slice(operands: readonly (RawValue | undefined)[]): RawValue {
  const [array, second, third] = operands
  if (array === undefined || second === undefined || array.isNullish() || second.isNullish()) return nullValue
  if (array.type !== BsonType.array)
    throw new CommandError(28724, `First argument to $slice must be an array, but is of type: ${typeOf(array)}`)
  if (!second.isNumber())
    throw new CommandError(28725, `Second argument to $slice must be a numeric value, but is of type: ${typeOf(second)}`)
  const position = int32(second)
  if (position === null)
    throw new CommandError(28726, `Second argument to $slice can't be represented as a 32-bit integer: ${formatValue(second)}`)
  const elements = elementsOf(array)
  if (operands.length === 2) return arrayValue(position >= 0 ? elements.slice(0, position) : elements.slice(position))
  if (third === undefined || third.isNullish()) return nullValue
  if (!third.isNumber()) throw new CommandError(28727, `Third argument to $slice must be numeric, but is of type: ${typeOf(third)}`)
  const count = int32(third)
  if (count === null)
    throw new CommandError(28728, `Third argument to $slice can't be represented as a 32-bit integer: ${formatValue(third)}`)
  if (count <= 0) throw new CommandError(28729, `Third argument to $slice must be positive: ${formatValue(third)}`)
  const start = position < 0 ? Math.max(0, elements.length + position) : position
  return arrayValue(elements.slice(start, start + count))
}

function reverse(value: RawValue | undefined): RawValue {
  if (value === undefined || value.isNullish()) return nullValue
  if (value.type !== BsonType.array)
    throw new CommandError(34435, `The argument to $reverseArray must be an array, but was of type: ${typeOf(value)}`)
  return arrayValue(elementsOf(value).reverse())
}

/** As many bytes as $range may make before the server gives up. */
const maxRangeBytes = 100 * 1024 * 1024

function range([from, to, by]: readonly (RawValue | undefined)[], given = 2): RawValue {
  const bound = (value: RawValue | undefined, article: string, which: string, code: number) => {
    if (!value?.isNumber())
      throw new CommandError(code, `$range requires ${article} numeric ${which} value, found value of type: ${typeOf(value)}`)
    const integer = int32(value)
    if (integer === null)
      throw new CommandError(
        code + 1,
        `$range requires ${which === 'ending' ? 'an' : 'a'} ${which} value that can be represented as a 32-bit integer, found value: ${formatValue(value)}`,
      )
    return integer
  }
  const start = bound(from, 'a', 'starting', 34443)
  const end = bound(to, 'a', 'ending', 34445)
  const step = given > 2 ? bound(by, 'a', 'step', 34447) : 1
  if (step === 0) throw new CommandError(34449, '$range requires a non-zero step value')
  if (((end - start) / step) * 16 > maxRangeBytes)
    throw new CommandError(
      'ExceededMemoryLimit',
      `$range would use too much memory and cannot spill to disk. Memory limit: ${maxRangeBytes} bytes`,
    )
  const values: RawValue[] = []
  for (let at = start; step > 0 ? at < end : at > end; at += step) values.push(int32Value(at))
  return arrayValue(values)
}

const zipFields = ['inputs', 'defaults', 'useLongestLength']

function compileZip(argument: RawValue, compiler: ExpressionCompiler): Expression {
  if (argument.type !== BsonType.object)
    throw new CommandError(34460, `$zip only supports an object as an argument, found ${typeOf(argument)}`)
  const parts = { inputs: [] as Expression[], defaults: [] as Expression[] }
  let longest = false
  for (const it = new FieldIterator(argument.bytes, argument.start); it.next();) {
    const name = it.name()
    const value = it.value()
    if (!zipFields.includes(name)) throw new CommandError(34464, `$zip found an unknown argument: ${name}`)
    if (name === 'useLongestLength') {
      if (value.type !== BsonType.bool) throw new CommandError(34463, `useLongestLength must be a bool, found ${typeOf(value)}`)
      longest = value.asBool()
      continue
    }
    if (value.type !== BsonType.array)
      throw new CommandError(name === 'inputs' ? 34461 : 34462, `${name} must be an array of expressions, found ${typeOf(value)}`)
    parts[name as keyof typeof parts] = elementsOf(value).map((element) => compiler.compile(element))
  }
  const { inputs, defaults } = parts
  if (inputs.length === 0) throw new CommandError(34465, '$zip requires at least one input array')
  if (defaults.length > 0 && !longest) throw new CommandError(34466, 'cannot specify defaults unless useLongestLength is true')
  if (defaults.length > 0 && defaults.length !== inputs.length)
    throw new CommandError(34467, 'defaults and inputs must have the same length')
  return computed([...inputs, ...defaults], (frame) => {
    const arrays: RawValue[][] = []
    for (const input of inputs) {
      const value = input.evaluate(frame)
      if (value === undefined || value.isNullish()) return nullValue
      if (value.type !== BsonType.array) throw new CommandError(34468, `$zip found a non-array expression in input: ${formatValue(value)}`)
      arrays.push(elementsOf(value))
    }
    const fillers = inputs.map((_, index) => defaults[index]?.evaluate(frame) ?? nullValue)
    const lengths = arrays.map((array) => array.length)
    const rows = longest ? Math.max(...lengths) : Math.min(...lengths)
    return arrayValue(Array.from({ length: rows }, (_, row) => arrayValue(arrays.map((array, index) => array[row] ?? fillers[index]!))))
  })
}

/** The operator with the collation's comparison of strings at hand. */
export function withStrings(name: string, make: (strings: StringComparator | undefined) => ExpressionOperator): ExpressionOperator {
  return {
    ...make(undefined),
    name,
    compile: (argument, compiler) => make(compiler.context.strings).compile(argument, compiler),
  }
}

const indexOfArray = withStrings('$indexOfArray', (strings) =>
  operator('$indexOfArray', 2, 4, (operands) => {
    const [array, wanted] = operands
    if (array === undefined || array.isNullish()) return nullValue
    if (array.type !== BsonType.array)
      throw new CommandError(40090, `$indexOfArray requires an array as a first argument, found: ${typeOf(array)}`)
    const elements = elementsOf(array)
    const { start, end } = searchRange('$indexOfArray', operands, operands.length, elements.length)
    for (let at = start; at < end; at++) if (compareValues(elements[at], wanted, strings) === 0) return int32Value(at)
    return int32Value(-1)
  }),
)

function arrayToObject(value: RawValue | undefined): RawValue {
  if (value === undefined || value.isNullish()) return nullValue
  if (value.type !== BsonType.array) throw new CommandError(40386, `$arrayToObject requires an array input, found: ${typeOf(value)}`)
  const elements = elementsOf(value)
  const fields = new Map<string, RawValue>()
  const kind = elements[0]?.type
  for (const element of elements) {
    const [name, given] = kind === BsonType.array ? pairOfArray(element) : pairOfObject(element, kind)
    if (name.includes('\0')) throw new CommandError(4940400, 'Key field cannot contain an embedded null byte')
    fields.set(name, given)
  }
  const writer = new DocumentWriter()
  for (const [name, given] of fields) writer.value(name, given)
  return documentValue(writer.finish())
}

function pairOfArray(element: RawValue): [string, RawValue] {
  if (element.type !== BsonType.array)
    throw new CommandError(
      40396,
      `$arrayToObject requires a consistent input format. Elements mustall be arrays or all be objects. Array was detected, now found: ${typeOf(element)}`,
    )
  const [key, value, ...rest] = elementsOf(element)
  if (key === undefined || value === undefined || rest.length > 0)
    throw new CommandError(40397, `$arrayToObject requires an array of size 2 arrays,found array of size: ${elementsOf(element).length}`)
  if (key.type !== BsonType.string)
    throw new CommandError(
      40395,
      `$arrayToObject requires an array of key-value pairs, where the key must be of type string. Found key type: ${typeOf(key)}`,
    )
  return [key.asString(), value]
}

function pairOfObject(element: RawValue, kind: number | undefined): [string, RawValue] {
  if (kind !== BsonType.object) throw new CommandError(40398, `Unrecognised input type format for $arrayToObject: ${typeOf(element)}`)
  if (element.type !== BsonType.object)
    throw new CommandError(
      40391,
      `$arrayToObject requires a consistent input format. Elements mustall be arrays or all be objects. Object was detected, now found: ${typeOf(element)}`,
    )
  let count = 0
  for (const it = new FieldIterator(element.bytes, element.start); it.next();) count++
  if (count !== 2)
    throw new CommandError(40392, `$arrayToObject requires an object keys of 'k' and 'v'. Found incorrect number of keys:${count}`)
  const key = findField(element.bytes, 'k', element.start)
  const value = findField(element.bytes, 'v', element.start)
  if (key === undefined || value === undefined)
    throw new CommandError(
      40393,
      `$arrayToObject requires an object with keys 'k' and 'v'. Missing either or both keys from: ${formatValue(element)}`,
    )
  if (key.type !== BsonType.string)
    throw new CommandError(
      40394,
      `$arrayToObject requires an object with keys 'k' and 'v', where the value of 'k' must be of type string. Found type: ${typeOf(key)}`,
    )
  return [key.asString(), value]
}

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
  const order = elementOrder(sortBy, compiler.context.strings)
  return computed([input], (frame) => {
    const value = input.evaluate(frame)
    if (value === undefined || value.isNullish()) return nullValue
    if (value.type !== BsonType.array)
      throw new CommandError(2942504, `The input argument to $sortArray must be an array, but was of type: ${typeOf(value)}`)
    return arrayValue(order(elementsOf(value)))
  })
}

function elementOrder(sortBy: RawValue, strings: StringComparator | undefined): (elements: RawValue[]) => RawValue[] {
  if (sortBy.type !== BsonType.object) {
    const direction = sortBy.isNumber() ? exactInteger(sortBy) : null
    if (direction !== 1n && direction !== -1n)
      throw new CommandError(2942507, `The $sortArray sortBy must be 1, -1 or an object: ${formatField('sortBy', sortBy)}`)
    return (elements) => elements.sort((a, b) => compareValues(a, b, strings) * Number(direction))
  }
  const sort = parseSort(sortBy.slice())
  if (sort.parts.length === 0) throw new CommandError('BadValue', '$sortArray sortBy must have at least one sort key')
  const empty = new DocumentWriter().finish()
  return (elements) =>
    elements
      .map((element) => ({ element, key: sortKeyOf(element.type === BsonType.object ? element.slice() : empty, sort) }))
      .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
      .map(({ element }) => element)
}

/** `n` of the N operators. @throws CommandError 5787902, 5787903, 5787908 */
export function countOperand(value: RawValue | undefined): number {
  const integer = value === undefined ? null : exactInteger(value)
  if (integer === null)
    throw new CommandError(
      value?.isNumber() ? 5787903 : 5787902,
      `Value for 'n' must be of integral type, but found ${value === undefined ? 'MISSING' : formatValue(value)}`,
    )
  if (integer <= 0n) throw new CommandError(5787908, `'n' must be greater than 0, found ${integer}`)
  return Number(integer)
}

/** What an N operator's object must have, as an expression and as an accumulator. */
export const countNamed = {
  fields: ['n', 'input'],
  required: {
    n: [5787906, "Missing value for 'n'"],
    input: [5787907, "Missing value for 'input'"],
  },
  notObject: (type: string) => new CommandError(5787900, `specification must be an object; found type ${type}`),
  unknown: (field: string) => new CommandError(5787901, `Unknown argument for 'n' operator: ${field}`),
} as const

function nOperator(
  name: string,
  pick: (elements: RawValue[], n: number, strings: StringComparator | undefined) => RawValue[],
): ExpressionOperator {
  return withStrings(name, (strings) =>
    namedOperator(name, countNamed, ([count, input]) => {
      const n = countOperand(count)
      if (input?.type !== BsonType.array) throw new CommandError(5788200, 'Input must be an array')
      return arrayValue(pick(elementsOf(input), n, strings))
    }),
  )
}

const extreme = (direction: 1 | -1) => (elements: RawValue[], n: number, strings: StringComparator | undefined) =>
  elements
    .filter((element) => !element.isNullish())
    .sort((a, b) => compareValues(a, b, strings) * direction)
    .slice(0, n)

export const moreArrayExpressions: readonly ExpressionOperator[] = [
  operator('$slice', 2, 3, slice),
  unary('$reverseArray', reverse),
  operator('$range', 2, 3, (operands) => range(operands, operands.length)),
  { name: '$zip', manualPage: 'aggregation/zip', status: 'complete', compile: compileZip },
  indexOfArray,
  {
    name: '$sortArray',
    manualPage: 'aggregation/sortArray',
    status: 'partial',
    note: 'sorting by fields orders by bytes, without the collation',
    compile: compileSortArray,
  },
  unary('$arrayToObject', arrayToObject),
  nOperator('$firstN', (elements, n) => elements.slice(0, n)),
  nOperator('$lastN', (elements, n) => elements.slice(-n)),
  nOperator('$maxN', extreme(-1)),
  nOperator('$minN', extreme(1)),
]
