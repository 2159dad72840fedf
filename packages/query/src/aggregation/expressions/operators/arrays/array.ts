import {
  BsonType,
  boolValue,
  CommandError,
  compareValues,
  elementsOf,
  FieldIterator,
  int32Value,
  nullValue,
  type RawValue,
} from '@shardlab/bson'
import { exactInteger } from '../../../../values/arithmetic.js'
import { arrayValue } from '../../../../values/build.js'
import { formatEvaluated } from '../../../../values/format.js'
import { newestLanguage } from '../../../../language/language.js'
import { checkValueBytes, interruptChecker } from '../../../../values/limits.js'
import { namedArguments, operator, typeOf, unary } from '../../arguments.js'
import type { Expression, ExpressionCompiler, ExpressionOperator } from '../../expression.js'
import { checkVariableName } from '../../variable-name.js'

function countOf(array: RawValue): number {
  let count = 0
  for (const it = new FieldIterator(array.bytes, array.start); it.next();) count++
  return count
}

function elementAt(array: RawValue, index: number): RawValue | undefined {
  const at = index < 0 ? countOf(array) + index : index
  if (at < 0) return undefined
  const it = new FieldIterator(array.bytes, array.start)
  for (let i = 0; it.next(); i++) if (i === at) return it.value()
  return undefined
}

function arrayElemAt([array, index]: readonly (RawValue | undefined)[]): RawValue | undefined {
  if (array === undefined || index === undefined || array.isNullish() || index.isNullish()) return nullValue
  if (array.type !== BsonType.array)
    throw new CommandError(28689, `$arrayElemAt's first argument must be an array, but is ${typeOf(array)}`)
  if (!index.isNumber())
    throw new CommandError(28690, `$arrayElemAt's second argument must be a numeric value, but is ${typeOf(index)}`)
  const integer = exactInteger(index)
  if (integer === null || BigInt.asIntN(32, integer) !== integer)
    throw new CommandError(
      28691,
      `$arrayElemAt's second argument must be representable as a 32-bit integer: ${index.asNumber()}`,
    )
  return elementAt(array, Number(integer))
}

function end(name: string, index: number): ExpressionOperator {
  return unary(name, (value) => {
    if (value === undefined || value.isNullish()) return nullValue
    if (value.type !== BsonType.array)
      throw new CommandError(28689, `${name}'s argument must be an array, but is ${typeOf(value)}`)
    return elementAt(value, index)
  })
}

const inOperator: ExpressionOperator = {
  name: '$in',
  manualPage: 'aggregation/in',
  status: 'complete',
  compile(argument, compiler) {
    const { strings } = compiler.context
    return operator('$in', 2, 2, ([value, array]) => {
      if (array?.type !== BsonType.array)
        throw new CommandError(40081, `$in requires an array as a second argument, found: ${typeOf(array)}`)
      return boolValue(elementsOf(array).some((element) => compareValues(value, element, strings) === 0))
    }).compile(argument, compiler)
  },
}

const concatArrays: ExpressionOperator = {
  ...operator('$concatArrays', 0, Infinity, () => undefined),
  compile(argument, compiler) {
    const checkForInterrupt = interruptChecker(compiler.context)
    return operator('$concatArrays', 0, Infinity, (operands) => {
      let bytes = 0
      for (const operand of operands) {
        if (operand === undefined || operand.isNullish()) return nullValue
        if (operand.type !== BsonType.array)
          throw new CommandError(28664, `$concatArrays only supports arrays, not ${typeOf(operand)}`)
        bytes += operand.end - operand.start
      }
      checkValueBytes('$concatArrays', bytes)
      return arrayValue(elementsOfAll(operands as readonly RawValue[], checkForInterrupt))
    }).compile(argument, compiler)
  },
}

/** One after the other: a list of the elements of a large array needs several times its memory. */
function* elementsOfAll(arrays: readonly RawValue[], checkForInterrupt: () => void): Generator<RawValue> {
  for (const { bytes, start } of arrays) {
    for (const it = new FieldIterator(bytes, start); it.next();) {
      checkForInterrupt()
      yield it.value()
    }
  }
}

function required(fields: Map<string, RawValue>, field: string, name: string, code: number): RawValue {
  const value = fields.get(field)
  if (value === undefined) throw new CommandError(code, `Missing '${field}' parameter to ${name}`)
  return value
}

function variableName(fields: Map<string, RawValue>): string {
  const name = fields.get('as')
  if (name === undefined) return 'this'
  const text = name.type === BsonType.string ? name.asString() : ''
  checkVariableName(text)
  return text
}

/** Of an element of an array, without its contents, on the server. */
const elementBytes = 16

function compileMap(argument: RawValue, compiler: ExpressionCompiler): Expression {
  const fields = namedArguments('$map', argument, ['input', 'as', 'in'], { notObject: 16878, unknown: 16879 })
  const input = compiler.compile(required(fields, 'input', '$map', 16880))
  const inner = compiler.withVariables([variableName(fields)])
  const each = inner.compiler.compile(required(fields, 'in', '$map', 16882))
  const slot = inner.slots[0]!
  const checkForInterrupt = interruptChecker(compiler.context)
  return {
    constant: null,
    evaluate(frame) {
      const array = input.evaluate(frame)
      if (array === undefined || array.isNullish()) return nullValue
      if (array.type !== BsonType.array)
        throw new CommandError(16883, `input to $map must be an array not ${typeOf(array)}`)
      let bytes = 0
      return arrayValue(
        elementsOf(array).map((element) => {
          checkForInterrupt()
          frame.slots[slot] = element
          const result = each.evaluate(frame) ?? nullValue
          bytes += result.end - result.start + elementBytes
          checkValueBytes('$map', bytes)
          return result
        }),
      )
    },
  }
}

function compileFilterExpression(argument: RawValue, compiler: ExpressionCompiler): Expression {
  const withLimit = (compiler.context.language ?? newestLanguage).has('form', 'filterLimit')
  const fields = namedArguments(
    '$filter',
    argument,
    withLimit ? ['input', 'as', 'cond', 'limit'] : ['input', 'as', 'cond'],
    {
      notObject: 28646,
      unknown: 28647,
    },
  )
  const input = compiler.compile(required(fields, 'input', '$filter', 28648))
  const inner = compiler.withVariables([variableName(fields)])
  const condition = inner.compiler.compile(required(fields, 'cond', '$filter', 28650))
  const limit = fields.get('limit')
  const limitExpression = limit === undefined ? null : compiler.compile(limit)
  const slot = inner.slots[0]!
  const checkForInterrupt = interruptChecker(compiler.context)
  return {
    constant: null,
    evaluate(frame) {
      const array = input.evaluate(frame)
      if (array === undefined || array.isNullish()) return nullValue
      if (array.type !== BsonType.array)
        throw new CommandError(28651, `input to $filter must be an array not ${typeOf(array)}`)
      let room = Infinity
      const most = limitExpression?.evaluate(frame)
      if (most !== undefined && !most.isNullish()) {
        const integer = exactInteger(most)
        if (integer === null || BigInt.asIntN(32, integer) !== integer)
          throw new CommandError(
            327391,
            `$filter: limit must be represented as a 32-bit integral value: ${formatEvaluated(most)}`,
          )
        if (integer < 1n) throw new CommandError(327392, `$filter: limit must be greater than 0: ${integer}`)
        room = Number(integer)
      }
      const kept: RawValue[] = []
      for (const element of elementsOf(array)) {
        if (kept.length >= room) break
        checkForInterrupt()
        frame.slots[slot] = element
        if (condition.evaluate(frame)?.isTruthy() ?? false) kept.push(element)
      }
      return arrayValue(kept)
    },
  }
}

function compileReduce(argument: RawValue, compiler: ExpressionCompiler): Expression {
  if (argument.type !== BsonType.object)
    throw new CommandError(40075, `$reduce requires an object as an argument, found: ${typeOf(argument)}`)
  const fields = new Map<string, RawValue>()
  for (const it = new FieldIterator(argument.bytes, argument.start); it.next();) {
    if (!['input', 'initialValue', 'in'].includes(it.name()))
      throw new CommandError(40076, `$reduce found an unknown argument: ${it.name()}`)
    fields.set(it.name(), it.value())
  }
  const needed = (name: string, code: number): RawValue => {
    const value = fields.get(name)
    if (value === undefined) throw new CommandError(code, `$reduce requires '${name}' to be specified`)
    return value
  }
  const input = compiler.compile(needed('input', 40077))
  const initial = compiler.compile(needed('initialValue', 40078))
  const inner = compiler.withVariables(['this', 'value'])
  const each = inner.compiler.compile(needed('in', 40079))
  const [self, value] = inner.slots as [number, number]
  const checkForInterrupt = interruptChecker(compiler.context)
  return {
    constant: null,
    evaluate(frame) {
      const array = input.evaluate(frame)
      if (array === undefined || array.isNullish()) return nullValue
      if (array.type !== BsonType.array)
        throw new CommandError(40080, `$reduce requires that 'input' be an array, found: ${typeOf(array)}`)
      let accumulated = initial.evaluate(frame)
      for (const element of elementsOf(array)) {
        checkForInterrupt()
        frame.slots[self] = element
        frame.slots[value] = accumulated
        accumulated = each.evaluate(frame)
        if (accumulated !== undefined) checkValueBytes('$reduce', accumulated.end - accumulated.start)
      }
      return accumulated
    },
  }
}

function compileLet(argument: RawValue, compiler: ExpressionCompiler): Expression {
  const fields = namedArguments('$let', argument, ['vars', 'in'], { notObject: 16874, unknown: 16875 })
  const variables = required(fields, 'vars', '$let', 16876)
  if (variables.type !== BsonType.object) throw new CommandError(10065, 'invalid parameter: expected an object (vars)')
  const names: string[] = []
  const values: Expression[] = []
  for (const it = new FieldIterator(variables.bytes, variables.start); it.next();) {
    const name = it.name()
    checkVariableName(name)
    names.push(name)
    values.push(compiler.compile(it.value()))
  }
  const inner = compiler.withVariables(names)
  const body = inner.compiler.compile(required(fields, 'in', '$let', 16877))
  return {
    constant: null,
    evaluate(frame) {
      const results = values.map((value) => value.evaluate(frame))
      results.forEach((result, index) => {
        frame.slots[inner.slots[index]!] = result
      })
      return body.evaluate(frame)
    },
  }
}

export const arrayExpressions: readonly ExpressionOperator[] = [
  unary('$size', (value) => {
    if (value?.type !== BsonType.array)
      throw new CommandError(17124, `The argument to $size must be an array, but was of type: ${typeOf(value)}`)
    return int32Value(countOf(value))
  }),
  unary('$isArray', (value) => boolValue(value?.type === BsonType.array)),
  operator('$arrayElemAt', 2, 2, arrayElemAt),
  end('$first', 0),
  end('$last', -1),
  inOperator,
  concatArrays,
  { name: '$map', manualPage: 'aggregation/map', status: 'complete', compile: compileMap },
  { name: '$filter', manualPage: 'aggregation/filter', status: 'complete', compile: compileFilterExpression },
  { name: '$reduce', manualPage: 'aggregation/reduce', status: 'complete', compile: compileReduce },
  { name: '$let', manualPage: 'aggregation/let', status: 'complete', compile: compileLet },
]
