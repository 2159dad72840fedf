/**
 * `$willBeMerged` outputs partial results, `$doingMerge` reads them. Keys are equal if they compare
 * as equal under the collation; a missing key counts as null.
 */
import {
  BsonType,
  CommandError,
  DocumentWriter,
  emptyDocument,
  FieldIterator,
  findField,
  firstFieldName,
  nullValue,
  typeName,
  type RawValue,
} from '@shardlab/bson'
import { findOperator } from '../../../context.js'
import { valueClasses } from '../../../values/value-classes.js'
import { accumulatorOperators } from '../../accumulators/table.js'
import type { AccumulatorOperator } from '../../accumulators/accumulator.js'
import { compileExpression, type DocumentExpression } from '../../expressions/compile.js'
import type { CompiledStage, StageContext, StageOperator } from '../stage.js'
import { Groups, type GroupField } from './groups.js'

interface Specification {
  readonly id: DocumentExpression
  readonly fields: readonly GroupField[]
  readonly doingMerge: boolean
  readonly willBeMerged: boolean
}

/**
 * `name: {$accumulator: argument}`.
 * @throws CommandError 40234, 40235, 40236, 40238, 15952 and the errors of the accumulator
 */
export function parseField(name: string, value: RawValue, context: StageContext, doingMerge: boolean): GroupField {
  const accumulator = value.type === BsonType.object ? firstFieldName(value.slice()) : undefined
  if (accumulator === undefined || !accumulator.startsWith('$'))
    throw new CommandError(40234, `The field '${name}' must be an accumulator object`)
  if (name.includes('.')) throw new CommandError(40235, `The field name '${name}' cannot contain '.'`)
  if (name.startsWith('$')) throw new CommandError(40236, `The field name '${name}' cannot be an operator name`)
  const it = new FieldIterator(value.bytes, value.start)
  it.next()
  const argument = it.value()
  if (it.next()) throw new CommandError(40238, `The field '${name}' must specify one accumulator`)
  const operator = findOperator('accumulator', accumulatorOperators, accumulator, context.evaluation)
  if (operator === undefined) throw new CommandError(15952, `unknown group operator '${accumulator}'`)
  return doingMerge ? mergingField(name, operator, argument, context) : groupField(name, operator, argument, context)
}

function mergingField(
  name: string,
  operator: AccumulatorOperator,
  argument: RawValue,
  { evaluation }: StageContext,
): GroupField {
  return {
    name,
    accumulator: operator.name,
    readsGroupKey: false,
    expression: compileExpression(argument, evaluation),
    create: (values) => operator.create(values, evaluation.strings),
  }
}

function groupField(
  name: string,
  operator: AccumulatorOperator,
  argument: RawValue,
  { evaluation }: StageContext,
): GroupField {
  const expression = compileExpression(operator.evaluatedOf(argument), evaluation)
  const given = operator.countOf?.(argument)
  const count = given === undefined ? null : compileExpression(given, evaluation)
  return {
    name,
    accumulator: operator.name,
    readsGroupKey: count?.readsDocument ?? false,
    expression,
    create(values, id) {
      const n = count?.evaluateOn(id?.type === BsonType.object ? id.slice() : emptyDocument)
      return operator.create(values, evaluation.strings, { argument, n })
    },
  }
}

/**
 * Every field of an object key is an expression. Numbers and booleans are refused because in a
 * $project they would mean inclusion.
 */
function checkGroupKey(id: RawValue): void {
  if (id.type !== BsonType.object || firstFieldName(id.slice())?.startsWith('$') !== false) return
  for (const it = new FieldIterator(id.bytes, id.start); it.next();)
    if (it.type === BsonType.bool || it.value().isNumber())
      throw new CommandError(17390, '$group does not support inclusion-style expressions')
}

function parse(argument: RawValue, context: StageContext): Specification {
  if (argument.type !== BsonType.object)
    throw new CommandError(15947, "a group's fields must be specified in an object")
  let id: DocumentExpression | null = null
  const flags = { $doingMerge: false, $willBeMerged: false }
  for (const it = new FieldIterator(argument.bytes, argument.start); it.next();) {
    const name = it.name()
    if (name === '_id') {
      if (id !== null) throw new CommandError(15948, "a group's _id may only be specified once")
      checkGroupKey(it.value())
      id = compileExpression(it.value(), context.evaluation)
    }
    if (name === '$doingMerge' || name === '$willBeMerged') flags[name] = it.value().isTruthy()
  }
  if (id === null) throw new CommandError(15955, 'a group specification must include an _id')
  const fields: GroupField[] = []
  for (const it = new FieldIterator(argument.bytes, argument.start); it.next();) {
    const name = it.name()
    if (name === '_id' || Object.hasOwn(flags, name)) continue
    fields.push(parseField(name, it.value(), context, flags.$doingMerge))
  }
  return { id, fields, doingMerge: flags.$doingMerge, willBeMerged: flags.$willBeMerged }
}

function compileGroup(argument: RawValue, context: StageContext): CompiledStage {
  const { id, fields, doingMerge, willBeMerged } = parse(argument, context)
  const { strings } = context.evaluation
  return {
    name: '$group',
    open(next, rest) {
      const keyOf = valueClasses(strings)
      const groups = new Groups(fields)
      let heldBytes = 0
      const checkMemory = () => {
        if (heldBytes > context.memoryLimitBytes)
          throw new CommandError(
            'QueryExceededMemoryLimitNoDiskUseAllowed',
            "Exceeded memory limit for $group, but didn't allow external sort. Pass allowDiskUse:true to opt in.",
          )
      }
      return {
        satisfied: false,
        push(document) {
          const key = id.evaluateOn(document) ?? nullValue
          const text = keyOf(key)
          let group = groups.find(text)
          if (group === undefined) {
            heldBytes += text.length + (key.end - key.start) + 64 * (fields.length + 1)
            group = groups.add(text, key)
          }
          for (let i = 0; i < fields.length; i++) {
            const value = fields[i]!.expression.evaluateOn(document)
            const accumulator = groups.accumulator(group, i)
            const heldBefore = accumulator.heldBytes
            if (!doingMerge) accumulator.add(value)
            else if (value !== undefined) accumulator.merge(value)
            if (heldBefore !== undefined) heldBytes += accumulator.heldBytes! - heldBefore
          }
          checkMemory()
        },
        end: () => rest.emit(next, groups.results(willBeMerged)),
      }
    },
  }
}

export const groupStage: StageOperator = {
  name: '$group',
  manualPage: 'aggregation/group',
  status: 'complete',
  sharded: 'group',
  spills: () => true,
  compile: compileGroup,
}

export function splitGroup(stage: Uint8Array): { shards: Uint8Array; merger: Uint8Array } {
  const specification = findField(stage, '$group')
  if (specification?.type !== BsonType.object)
    throw new CommandError(
      15947,
      `a group's fields must be specified in an object, not ${typeName(specification?.type)}`,
    )
  const shards = new DocumentWriter()
    .startDocument('$group')
    .fields(specification.bytes, specification.start)
    .bool('$willBeMerged', true)
    .end()
    .finish()
  const merger = new DocumentWriter().startDocument('$group').string('_id', '$$ROOT._id')
  for (const it = new FieldIterator(specification.bytes, specification.start); it.next();) {
    const name = it.name()
    if (name === '_id' || it.type !== BsonType.object) continue
    merger.startDocument(name)
    const accumulator = firstFieldName(it.value().slice()) ?? ''
    if (name !== '') merger.string(accumulator, `$$ROOT.${name}`)
    // A path cannot address a field with an empty name.
    else
      merger
        .startDocument(accumulator)
        .startDocument('$getField')
        .string('field', '')
        .string('input', '$$ROOT')
        .end()
        .end()
    merger.end()
  }
  return { shards, merger: merger.bool('$doingMerge', true).end().finish() }
}
