import { checkCollectionName, type CommandArguments } from '@shardlab/actor'
import { BsonType, CommandError, typeName } from '@shardlab/bson'

/** @throws CommandError 14 TypeMismatch, 73 InvalidNamespace */
export function namespaceArgument(args: CommandArguments): string {
  if (args.target.type !== BsonType.string)
    throw new CommandError(
      'TypeMismatch',
      `BSON field '${args.command}.${args.command}' is the wrong type '${typeName(args.target.type)}', expected type 'string'`,
    )
  const ns = args.target.asString()
  const dot = ns.indexOf('.')
  checkCollectionName(ns.slice(0, Math.max(dot, 0)), dot < 1 ? '' : ns.slice(dot + 1))
  return ns
}
