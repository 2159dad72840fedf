import { CommandArguments } from '@shardlab/actor'
import { BsonType, CommandError } from '@shardlab/bson'
import { writingStage } from '../concerns/concerns.js'
import type { Behaviours } from '@shardlab/sharding'
import { fieldsIn } from '../arguments/command-language.js'
import type { CommandSpec } from './command-spec.js'
import { aggregatePrivileges } from '../access/pipeline-privileges.js'
export const aggregateSpec = {
  name: 'aggregate',
  access: 'read',
  privileges: aggregatePrivileges,
  endsWithClient: (args) => writingStage('aggregate', args) === null,
  opensCursor: true,
  apiVersion1: true,
  manual: 'reference/command/aggregate',
  fields: {
    pipeline: 'pipeline!',
    cursor: 'any',
    explain: 'bool',
    allowDiskUse: 'bool',
    bypassDocumentValidation: 'bool',
    collation: 'object',
    hint: 'string|object',
    let: 'object',
    collectionUUID: 'binary',
    needsMerge: 'bool',
    fromMongos: 'bool',
    fromRouter: 'bool',
    isMapReduceCommand: 'bool',
    runtimeConstants: 'object',
  },
  memberFields: { let: 'object', collation: 'object', querySettings: 'object', $_generateV2ResumeTokens: 'bool' },
} as const satisfies CommandSpec

/**
 * For `{ aggregate: 1 }` it is `database.$cmd.aggregate`. @throws CommandError 73 InvalidNamespace
 */
export function namespaceOfAggregate({ args, db }: { readonly args: CommandArguments; readonly db: string }): string {
  return args.target.isNumber() ? `${db}.$cmd.aggregate` : `${db}.${args.collectionName(db)}`
}

/**
 * @throws CommandError 14 TypeMismatch; 9 FailedToParse when neither `cursor` nor `explain` is
 *   given
 */
export function checkCursorArgument(args: CommandArguments): void {
  const cursor = args.value('cursor')
  if (cursor !== undefined && cursor.type !== BsonType.object)
    throw new CommandError('TypeMismatch', 'cursor field must be missing or an object')
  if (cursor === undefined && args.bool('explain') !== true)
    throw new CommandError(
      'FailedToParse',
      "The 'cursor' option is required, except for aggregate with the explain argument",
    )
}

/** For the body of a command that was checked before, perhaps on another namespace. */
export function argumentsOfAggregate(body: Uint8Array, { language }: Pick<Behaviours, 'language'>): CommandArguments {
  return CommandArguments.parse(body, fieldsIn(language, 'aggregate', aggregateSpec.fields), [], 'ignored')
}
