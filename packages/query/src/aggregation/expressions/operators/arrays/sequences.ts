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
  RawValue,
} from '@shardlab/bson'
import { exactInteger } from '../../../../values/arithmetic.js'
import { arrayValue } from '../../../../values/build.js'
import { formatEvaluated } from '../../../../values/format.js'
import { valueBytesMax } from '../../../../values/limits.js'
import { operator, typeOf, unary, withStrings } from '../../arguments.js'
import { computed, type Expression, type ExpressionCompiler, type ExpressionOperator } from '../../expression.js'
import { searchRange } from '../strings/substrings.js'

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
    throw new CommandError(
      28725,
      `Second argument to $slice must be a numeric value, but is of type: ${typeOf(second)}`,
    )
  const position = int32(second)
  if (position === null)
    throw new CommandError(
      28726,
      `Second argument to $slice can't be represented as a 32-bit integer: ${formatEvaluated(second)}`,
    )
  const elements = elementsOf(array)
  if (operands.length === 2) return arrayValue(position >= 0 ? elements.slice(0, position) : elements.slice(position))
  if (third === undefined || third.isNullish()) return nullValue
  if (!third.isNumber())
    throw new CommandError(28727, `Third argument to $slice must be numeric, but is of type: ${typeOf(third)}`)
  const count = int32(third)
  if (count === null)
    throw new CommandError(
      28728,
      `Third argument to $slice can't be represented as a 32-bit integer: ${formatEvaluated(third)}`,
    )
  if (count <= 0) throw new CommandError(28729, `Third argument to $slice must be positive: ${formatEvaluated(third)}`)
  const start = position < 0 ? Math.max(0, elements.length + position) : position
  return arrayValue(elements.slice(start, start + count))
}

function reverse(value: RawValue | undefined): RawValue {
  if (value === undefined || value.isNullish()) return nullValue
  if (value.type !== BsonType.array)
    throw new CommandError(34435, `The argument to $reverseArray must be an array, but was of type: ${typeOf(value)}`)
  return arrayValue(elementsOf(value).reverse())
}

function range([from, to, by]: readonly (RawValue | undefined)[], given = 2): RawValue {
  const bound = (value: RawValue | undefined, which: string, code: number) => {
    if (!value?.isNumber())
      throw new CommandError(
        code,
        `$range requires a numeric ${which} value, found value of type:${which === 'step' ? '' : ' '}${typeOf(value)}`,
      )
    const integer = int32(value)
    if (integer === null)
      throw new CommandError(
        code + 1,
        `$range requires ${which === 'ending' ? 'an' : 'a'} ${which} value that can be represented as a 32-bit integer, found value: ${formatEvaluated(value)}`,
      )
    return integer
  }
  const start = bound(from, 'starting', 34443)
  const end = bound(to, 'ending', 34445)
  const step = given > 2 ? bound(by, 'step', 34447) : 1
  if (step === 0) throw new CommandError(34449, '$range requires a non-zero step value')
  const steps = Math.trunc((end - start) / step)
  const neededBytes = 24 + (steps >= 0 ? 1 + steps : 0) * 16
  if (neededBytes >= valueBytesMax)
    throw new CommandError(
      'ExceededMemoryLimit',
      `$range would use too much memory (${neededBytes} bytes) and cannot spill to disk. Memory limit: ${valueBytesMax} bytes`,
    )
  const writer = new DocumentWriter()
  let index = 0
  for (let at = start; step > 0 ? at < end : at > end; at += step) writer.int32(String(index++), at)
  const bytes = writer.finish()
  return new RawValue(BsonType.array, bytes, 0, bytes.length)
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
      if (value.type !== BsonType.bool)
        throw new CommandError(34463, `useLongestLength must be a bool, found ${typeOf(value)}`)
      longest = value.asBool()
      continue
    }
    if (value.type !== BsonType.array)
      throw new CommandError(
        name === 'inputs' ? 34461 : 34462,
        `${name} must be an array of expressions, found ${typeOf(value)}`,
      )
    parts[name as keyof typeof parts] = elementsOf(value).map((element) => compiler.compile(element))
  }
  const { inputs, defaults } = parts
  if (inputs.length === 0) throw new CommandError(34465, '$zip requires at least one input array')
  if (defaults.length > 0 && !longest)
    throw new CommandError(34466, 'cannot specify defaults unless useLongestLength is true')
  if (defaults.length > 0 && defaults.length !== inputs.length)
    throw new CommandError(34467, 'defaults and inputs must have the same length')
  return computed([...inputs, ...defaults], (frame) => {
    const arrays: RawValue[][] = []
    for (const input of inputs) {
      const value = input.evaluate(frame)
      if (value === undefined || value.isNullish()) return nullValue
      if (value.type !== BsonType.array)
        throw new CommandError(34468, `$zip found a non-array expression in input: ${formatEvaluated(value)}`)
      arrays.push(elementsOf(value))
    }
    const fillers = inputs.map((_, index) => defaults[index]?.evaluate(frame) ?? nullValue)
    const lengths = arrays.map((array) => array.length)
    const rows = longest ? Math.max(...lengths) : Math.min(...lengths)
    return arrayValue(
      Array.from({ length: rows }, (_, row) => arrayValue(arrays.map((array, index) => array[row] ?? fillers[index]!))),
    )
  })
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
  if (value.type !== BsonType.array)
    throw new CommandError(40386, `$arrayToObject requires an array input, found: ${typeOf(value)}`)
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
    throw new CommandError(
      40397,
      `$arrayToObject requires an array of size 2 arrays,found array of size: ${elementsOf(element).length}`,
    )
  if (key.type !== BsonType.string)
    throw new CommandError(
      40395,
      `$arrayToObject requires an array of key-value pairs, where the key must be of type string. Found key type: ${typeOf(key)}`,
    )
  return [checkedKey(key, 4940400), value]
}

function checkedKey(key: RawValue, code: number): string {
  const text = key.asString()
  if (text.includes('\0')) throw new CommandError(code, 'Key field cannot contain an embedded null byte')
  return text
}

function pairOfObject(element: RawValue, kind: number | undefined): [string, RawValue] {
  if (kind !== BsonType.object)
    throw new CommandError(40398, `Unrecognised input type format for $arrayToObject: ${typeOf(element)}`)
  if (element.type !== BsonType.object)
    throw new CommandError(
      40391,
      `$arrayToObject requires a consistent input format. Elements mustall be arrays or all be objects. Object was detected, now found: ${typeOf(element)}`,
    )
  let count = 0
  for (const it = new FieldIterator(element.bytes, element.start); it.next();) count++
  if (count !== 2)
    throw new CommandError(
      40392,
      `$arrayToObject requires an object keys of 'k' and 'v'. Found incorrect number of keys:${count}`,
    )
  const key = findField(element.bytes, 'k', element.start)
  const value = findField(element.bytes, 'v', element.start)
  if (key === undefined || value === undefined)
    throw new CommandError(
      40393,
      `$arrayToObject requires an object with keys 'k' and 'v'. Missing either or both keys from: ${formatEvaluated(element)}`,
    )
  if (key.type !== BsonType.string)
    throw new CommandError(
      40394,
      `$arrayToObject requires an object with keys 'k' and 'v', where the value of 'k' must be of type string. Found type: ${typeOf(key)}`,
    )
  return [checkedKey(key, 4940401), value]
}

export const sequenceExpressions: readonly ExpressionOperator[] = [
  operator('$slice', 2, 3, slice),
  unary('$reverseArray', reverse),
  operator('$range', 2, 3, (operands) => range(operands, operands.length)),
  { name: '$zip', manualPage: 'aggregation/zip', status: 'complete', compile: compileZip },
  indexOfArray,
  unary('$arrayToObject', arrayToObject),
]
