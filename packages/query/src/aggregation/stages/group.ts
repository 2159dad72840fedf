/**
 * $group, whole or in two halves: with `$willBeMerged` it gives partial results, with `$doingMerge` it takes them.
 * Groups are told apart by canonical equality; a missing key counts as null.
 */
import {
  BsonType,
  CommandError,
  DocumentWriter,
  encodeKeyString,
  FieldIterator,
  findField,
  firstFieldName,
  nullValue,
  typeName,
  type RawValue,
} from '@shardlab/bson'
import { accumulatorOperators } from '../accumulators/table.js'
import type { Accumulator, AccumulatorOperator } from '../accumulators/accumulator.js'
import { compileExpression, type DocumentExpression } from '../expressions/compile.js'
import type { CompiledStage, StageContext, StageOperator } from './stage.js'

export interface GroupField {
  readonly name: string
  readonly operator: AccumulatorOperator
  readonly argument: RawValue
  readonly expression: DocumentExpression
}

interface Group {
  readonly id: RawValue
  readonly accumulators: readonly Accumulator[]
}

interface Specification {
  readonly id: DocumentExpression
  readonly fields: readonly GroupField[]
  readonly doingMerge: boolean
  readonly willBeMerged: boolean
}

/** `name: {$accumulator: argument}`. */
export function parseField(name: string, value: RawValue, context: StageContext, doingMerge: boolean): GroupField {
  if (name.includes('.')) throw new CommandError(40235, `The field name '${name}' cannot contain '.'`)
  if (name.startsWith('$')) throw new CommandError(40236, `The field name '${name}' cannot be an operator name`)
  if (value.type !== BsonType.object) throw new CommandError(40234, `The field '${name}' must be an accumulator object`)
  const it = new FieldIterator(value.bytes, value.start)
  if (!it.next()) throw new CommandError(40234, `The field '${name}' must be an accumulator object`)
  const accumulator = it.name()
  const argument = it.value()
  if (it.next()) throw new CommandError(40238, `The field '${name}' must specify one accumulator`)
  if (!accumulator.startsWith('$')) throw new CommandError(40234, `The field '${name}' must be an accumulator object`)
  const operator = accumulatorOperators.get(accumulator)
  if (operator === undefined) throw new CommandError(15952, `unknown group operator '${accumulator}'`)
  const evaluated = doingMerge ? argument : (operator.replaceArgument?.(argument) ?? argument)
  return { name, operator, argument, expression: compileExpression(evaluated, context.evaluation) }
}

function parse(argument: RawValue, context: StageContext): Specification {
  if (argument.type !== BsonType.object) throw new CommandError(15947, "a group's fields must be specified in an object")
  let id: DocumentExpression | null = null
  const flags = { $doingMerge: false, $willBeMerged: false }
  for (const it = new FieldIterator(argument.bytes, argument.start); it.next();) {
    const name = it.name()
    if (name === '_id') id = compileExpression(it.value(), context.evaluation)
    else if (name === '$doingMerge' || name === '$willBeMerged') flags[name] = it.value().isTruthy()
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
    open(next) {
      const groups = new Map<string, Group>()
      let heldBytes = 0
      return {
        satisfied: false,
        push(document) {
          const key = id.evaluateOn(document) ?? nullValue
          const text = encodeKeyString([key])
          let group = groups.get(text)
          if (group === undefined) {
            heldBytes += text.length + (key.end - key.start) + 64 * (fields.length + 1)
            if (heldBytes > context.memoryLimitBytes)
              throw new CommandError(
                'QueryExceededMemoryLimitNoDiskUseAllowed',
                "Exceeded memory limit for $group, but didn't allow external sort. Pass allowDiskUse:true to opt in.",
              )
            group = { id: key, accumulators: fields.map(({ operator, argument }) => operator.create(strings, argument)) }
            groups.set(text, group)
          }
          for (let i = 0; i < fields.length; i++) {
            const value = fields[i]!.expression.evaluateOn(document)
            if (!doingMerge) group.accumulators[i]!.add(value)
            else if (value !== undefined) group.accumulators[i]!.merge(value)
          }
        },
        end() {
          for (const group of groups.values()) {
            if (next.satisfied) break
            const writer = new DocumentWriter()
            writer.value('_id', group.id)
            group.accumulators.forEach((accumulator, i) =>
              writer.value(fields[i]!.name, willBeMerged ? accumulator.partial() : accumulator.result()),
            )
            next.push(writer.finish())
          }
          next.end()
        },
      }
    },
  }
}

export const groupStage: StageOperator = {
  name: '$group',
  manualPage: 'aggregation/group',
  status: 'partial',
  note: 'keys are told apart by bytes, without the collation; the memory of accumulated arrays is not counted',
  sharded: 'group',
  compile: compileGroup,
}

/** The two halves of a $group: what shards run, and what merges their results. */
export function splitGroup(stage: Uint8Array): { shards: Uint8Array; merger: Uint8Array } {
  const specification = findField(stage, '$group')
  if (specification?.type !== BsonType.object)
    throw new CommandError(15947, `a group's fields must be specified in an object, not ${typeName(specification?.type)}`)
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
    merger
      .startDocument(name)
      .string(firstFieldName(it.value().slice()) ?? '', `$$ROOT.${name}`)
      .end()
  }
  return { shards, merger: merger.bool('$doingMerge', true).end().finish() }
}
