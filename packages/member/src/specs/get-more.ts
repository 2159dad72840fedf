import { checkNamespaceParts, type CommandArguments } from '@shardlab/actor'
import { BsonType, CommandError, typeName } from '@shardlab/bson'
import type { Behaviours } from '@shardlab/sharding'
import { nonNegative } from '../arguments/read-arguments.js'
import type { CommandSpec } from './command-spec.js'
import { getMorePrivileges } from '../access/administration-privileges.js'

export const getMoreSpec = {
  name: 'getMore',
  access: 'read',
  privileges: getMorePrivileges,
  apiVersion1: true,
  manual: 'reference/command/getMore',
  fields: { collection: 'string!', batchSize: 'number', term: 'any', lastKnownCommittedOpTime: 'any' },
} as const satisfies CommandSpec

/** For a getMore without maxTimeMS on an awaitData cursor. */
export const defaultAwaitMs = 1000

/** @throws CommandError 14 TypeMismatch */
export function cursorIdOf({ target }: CommandArguments): bigint {
  if (target.type === BsonType.int64) return target.asBigInt()
  throw new CommandError(
    'TypeMismatch',
    `BSON field 'getMore.getMore' is the wrong type '${typeName(target.type)}', expected type 'long'`,
  )
}

/** 0: the default. @throws CommandError 51024; until 4.4, 2 BadValue, for the cursor 0 too */
export function getMoreBatchSize(args: CommandArguments, id: bigint, { getMoreIsHandwritten }: Behaviours): number {
  const size = args.number('batchSize')
  if (getMoreIsHandwritten) {
    if (id === 0n) throw new CommandError('BadValue', 'Cursor id for getMore must be non-zero')
    if (size !== undefined && Math.trunc(size) <= 0)
      throw new CommandError('BadValue', `Batch size for getMore must be positive, but received: ${Math.trunc(size)}`)
  }
  return nonNegative(args, 'batchSize') ?? 0
}

/** Server: getmore_cmd.cpp. @throws CommandError 73 InvalidNamespace; until 4.4, 2 BadValue */
export function getMoreNamespace(args: CommandArguments, db: string, { getMoreIsHandwritten }: Behaviours): string {
  const name = args.string('collection')!
  checkNamespaceParts(db, name)
  if (name === '')
    throw new CommandError(
      getMoreIsHandwritten ? 'BadValue' : 'InvalidNamespace',
      `Invalid namespace for getMore: ${db}.${name}`,
    )
  return `${db}.${name}`
}
