import type { CommandArguments } from '@shardlab/actor'
/** Arguments of aggregate, as the command table checks them. */
export const aggregateFields = {
  pipeline: 'array!',
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
} as const

/** `{aggregate: 1}` stands for `database.$cmd.aggregate`. @throws CommandError 73 InvalidNamespace */
export function namespaceOfAggregate({ args, db }: { readonly args: CommandArguments; readonly db: string }): string {
  return args.target.isNumber() ? `${db}.$cmd.aggregate` : `${db}.${args.collectionName(db)}`
}
