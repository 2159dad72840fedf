import { checkCollectionName, checkDatabaseName, type CommandArguments } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'

/** @throws CommandError 73 InvalidNamespace, 14 TypeMismatch */
export function reshardedNamespace(args: CommandArguments): { readonly db: string; readonly ns: string } {
  const ns = args.targetString()
  const dot = ns.indexOf('.')
  if (dot < 1) throw new CommandError('InvalidNamespace', `Invalid namespace specified '${ns}'`)
  const db = ns.slice(0, dot)
  checkDatabaseName(db)
  checkCollectionName(db, ns.slice(dot + 1))
  return { db, ns }
}
