/** $count and $sortByCount are rewritten to other stages. */
import { BsonType, CommandError, DocumentWriter, firstFieldName, type RawValue } from '@shardlab/bson'
import type { CompiledStage, StageOperator } from './stage.js'

function countStages(argument: RawValue): Uint8Array[] {
  if (argument.type !== BsonType.string) throw new CommandError(40156, 'the count field must be a non-empty string')
  const name = argument.asString()
  if (name === '') throw new CommandError(40157, 'the count field must be a non-empty string')
  if (name.startsWith('$')) throw new CommandError(40158, 'the count field cannot be a $-prefixed path')
  if (name.includes('\0')) throw new CommandError(40159, 'the count field cannot contain a null byte')
  if (name.includes('.')) throw new CommandError(40160, "the count field cannot contain '.'")
  return [
    new DocumentWriter().startDocument('$group').null('_id').startDocument(name).int32('$sum', 1).end().end().finish(),
    new DocumentWriter().startDocument('$project').bool('_id', false).end().finish(),
  ]
}

function sortByCountStages(argument: RawValue): Uint8Array[] {
  const isExpression =
    argument.type === BsonType.object
      ? firstFieldName(argument.slice())?.startsWith('$')
      : argument.type === BsonType.string && argument.asString().startsWith('$')
  if (!isExpression) {
    if (argument.type !== BsonType.object && argument.type !== BsonType.string)
      throw new CommandError(40149, 'the sortByCount field must be specified as a string or as an object')
    throw new CommandError(
      argument.type === BsonType.object ? 40147 : 40148,
      'the sortByCount field must be defined as a $-prefixed path or an expression inside an object',
    )
  }
  return [
    new DocumentWriter()
      .startDocument('$group')
      .value('_id', argument)
      .startDocument('count')
      .int32('$sum', 1)
      .end()
      .end()
      .finish(),
    new DocumentWriter().startDocument('$sort').int32('count', -1).end().finish(),
  ]
}

function rewritten(): CompiledStage {
  throw new Error('a stage that stands for others is never compiled itself')
}

export const shorthandStages: readonly StageOperator[] = [
  {
    name: '$count',
    manualPage: 'aggregation/count',
    status: 'complete',
    sharded: 'group',
    compile: rewritten,
    rewrite: countStages,
  },
  {
    name: '$sortByCount',
    manualPage: 'aggregation/sortByCount',
    status: 'complete',
    sharded: 'group',
    compile: rewritten,
    rewrite: sortByCountStages,
  },
]
