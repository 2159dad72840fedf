import {
  BsonType,
  CommandError,
  DocumentWriter,
  documentValue,
  FieldIterator,
  findField,
  int32Value,
  nullValue,
  readInt32,
  stringValue,
  type RawValue,
} from '@shardlab/bson'
import { namedOperands, typeOf, unary } from '../../arguments.js'
import { computed, type Expression, type ExpressionCompiler, type ExpressionOperator } from '../../expression.js'
import { newestLanguage } from '../../../../language/language.js'

function compileGetField(argument: RawValue, compiler: ExpressionCompiler): Expression {
  const isLong = argument.type === BsonType.object && !isOperator(argument)
  const [given, input] = isLong
    ? namedOperands(
        {
          fields: ['field', 'input'],
          required: {
            field: [3041702, "$getField requires 'field' to be specified"],
            input: [3041703, "$getField requires 'input' to be specified"],
          },
          notObject: (type) =>
            new CommandError(3041701, `$getField only supports an object as its argument, found ${type}`),
          unknown: (field) => new CommandError(3041701, `$getField found an unknown argument: ${field}`),
        },
        argument,
        compiler,
      )
    : [compiler.compile(argument), compiler.compile(stringValue('$$CURRENT'))]
  const field = given!
  if (!(compiler.context.language ?? newestLanguage).has('form', 'computedFieldNames'))
    checkConstantName(isLong ? argument : documentOf(argument))
  const fixed = field.constant
  if (fixed !== null && fixed.value?.type !== BsonType.string)
    throw new CommandError(
      5654602,
      `$getField requires 'field' to evaluate to a constant String, but got ${typeOf(fixed.value)}`,
    )
  return computed([field, input!], (frame) => {
    const name = field.evaluate(frame)
    if (name?.type !== BsonType.string)
      throw new CommandError(3041704, `$getField requires 'field' to evaluate to type String, but got ${typeOf(name)}`)
    const from = input!.evaluate(frame)
    if (from === undefined) return undefined
    if (from.isNullish()) return nullValue
    return from.type === BsonType.object ? findField(from.bytes, name.asString(), from.start) : undefined
  })
}

/** For releases in which the field name must be a constant. */
function checkConstantName(argument: RawValue): void {
  const reference = fieldReference(argument)
  if (reference !== null)
    throw new CommandError(
      5654600,
      `'${reference}' is a field path reference which is not allowed in this context. Did you mean {$literal: '${reference}'}?`,
    )
  if (isComputed(findField(argument.bytes, 'field', argument.start)!))
    throw new CommandError(
      5654601,
      "$getField requires 'field' to evaluate to a constant, but got a non-constant argument",
    )
}

function documentOf(field: RawValue): RawValue {
  const writer = new DocumentWriter()
  writer.value('field', field)
  return documentValue(writer.finish())
}

function isOperator(argument: RawValue): boolean {
  const it = new FieldIterator(argument.bytes, argument.start)
  return it.next() && it.name().startsWith('$')
}

/**
 * For a non-constant expression in operator syntax. The server does not fold the expression that
 * names a field.
 */
function isComputed(argument: RawValue): boolean {
  if (argument.type === BsonType.array) return true
  if (argument.type !== BsonType.object) return false
  const it = new FieldIterator(argument.bytes, argument.start)
  return !it.next() || (it.name() !== '$const' && it.name() !== '$literal')
}

function fieldSetter(name: string, hasValue: boolean): ExpressionOperator {
  return {
    name,
    manualPage: `aggregation/${name.slice(1)}`,
    status: 'complete',
    compile(argument, compiler) {
      const [field, input, value] = namedOperands(
        {
          fields: hasValue ? ['field', 'input', 'value'] : ['field', 'input'],
          required: {
            field: [4161102, `${name} requires 'field' to be specified`],
            ...(hasValue ? { value: [4161103, `${name} requires 'value' to be specified`] } : {}),
            input: [4161109, `${name} requires 'input' to be specified`],
          },
          notObject: () => new CommandError(4161100, `${name} only supports an object as its argument`),
          unknown: (unknown) => new CommandError(4161101, `${name} found an unknown argument: ${unknown}`),
        },
        argument,
        compiler,
      )
      const reference = fieldReference(argument)
      if (reference !== null)
        throw new CommandError(
          4161108,
          `'${reference}' is a field path reference which is not allowed in this context. Did you mean {$literal: '${reference}'}?`,
        )
      const fixed = isComputed(findField(argument.bytes, 'field', argument.start)!) ? null : field!.constant
      if (fixed === null)
        throw new CommandError(
          4161106,
          `${name} requires 'field' to evaluate to a constant, but got a non-constant argument`,
        )
      if (fixed.value?.type !== BsonType.string)
        throw new CommandError(
          4161107,
          `${name} requires 'field' to evaluate to type String, but got ${typeOf(fixed.value)}`,
        )
      const key = fixed.value.asString()
      return computed(value === null || value === undefined ? [input!] : [input!, value], (frame) => {
        const from = input!.evaluate(frame)
        if (from === undefined || from.isNullish()) return nullValue
        if (from.type !== BsonType.object)
          throw new CommandError(4161105, `${name} requires 'input' to evaluate to type Object`)
        return withField(from, key, value?.evaluate(frame))
      })
    },
  }
}

/** A field path in the place of a field name; null: there is none. */
function fieldReference(argument: RawValue): string | null {
  const field = findField(argument.bytes, 'field', argument.start)
  if (field?.type !== BsonType.string) return null
  return /^\$[^$]/.test(field.asString()) ? field.asString() : null
}

/** Undefined removes the field. A new field is appended. */
function withField(from: RawValue, key: string, value: RawValue | undefined): RawValue {
  const writer = new DocumentWriter()
  let found = false
  for (const it = new FieldIterator(from.bytes, from.start); it.next();) {
    const name = it.name()
    if (name !== key) writer.value(name, it.value())
    else {
      found = true
      if (value !== undefined) writer.value(name, value)
    }
  }
  if (!found && value !== undefined) writer.value(key, value)
  return documentValue(writer.finish())
}

function binarySize(value: RawValue | undefined): RawValue {
  if (value === undefined || value.isNullish()) return nullValue
  if (value.type === BsonType.string) return int32Value(value.end - value.start - 5)
  if (value.type === BsonType.binary) return int32Value(readInt32(value.bytes, value.start))
  throw new CommandError(51276, `$binarySize requires a string or BinData argument, found: ${typeOf(value)}`)
}

export const fieldExpressions: readonly ExpressionOperator[] = [
  { name: '$getField', manualPage: 'aggregation/getField', status: 'complete', compile: compileGetField },
  fieldSetter('$setField', true),
  fieldSetter('$unsetField', false),
  unary('$binarySize', binarySize),
]
