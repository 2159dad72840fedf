import { type CommandArguments, checkNoNul, isNamespace } from '@shardlab/actor'
import { BsonType, CommandError, typeName } from '@shardlab/bson'
import type { CommandSpec } from './command-spec.js'
import { renameCollectionPrivileges } from '../access/definition-privileges.js'

export const renameCollectionSpec = {
  name: 'renameCollection',
  access: 'admin',
  privileges: renameCollectionPrivileges,
  adminOnly: true,
  manual: 'reference/command/renameCollection',
  fields: {
    to: 'string!',
    dropTarget: 'any',
    stayTemp: 'bool',
    collectionUUID: 'binary',
  },
} as const satisfies CommandSpec

export interface RenameRequest {
  readonly from: string
  readonly to: string
  readonly dropTarget: boolean
}

/** @throws CommandError 73 InvalidNamespace, 20 IllegalOperation, 14 TypeMismatch */
export function renameRequest(args: CommandArguments): RenameRequest {
  if (args.target.type !== BsonType.string)
    throw new CommandError('InvalidNamespace', `collection name has invalid type ${typeName(args.target.type)}`)
  const from = args.target.asString()
  const to = args.string('to')!
  checkNamespace('source', from)
  checkNamespace('target', to)
  if (from === to) throw new CommandError('IllegalOperation', "Can't rename a collection to itself")
  const dropTarget = args.value('dropTarget')
  if (
    dropTarget !== undefined &&
    dropTarget.type !== BsonType.bool &&
    !dropTarget.isNumber() &&
    dropTarget.type !== BsonType.binary
  ) {
    throw new CommandError(
      'TypeMismatch',
      `BSON field 'renameCollection.dropTarget' is the wrong type '${typeName(dropTarget.type)}', expected types '[bool, binData]'`,
    )
  }
  return {
    from,
    to,
    dropTarget: dropTarget !== undefined && (dropTarget.type === BsonType.binary || dropTarget.isTruthy()),
  }
}

function checkNamespace(which: 'source' | 'target', ns: string): void {
  checkNoNul(ns)
  if (!isNamespace(ns)) throw new CommandError('InvalidNamespace', `Invalid ${which} namespace: ${ns}`)
}
