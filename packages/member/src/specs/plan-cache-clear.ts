/** Server: plan_cache_clear_command.cpp, plan_cache_commands.cpp (canonicalize). */
import type { CommandArguments } from '@shardlab/actor'
import { BsonType, CommandError } from '@shardlab/bson'
import type { CommandSpec } from './command-spec.js'
import { onNamespace } from '../access/needs.js'

export const planCacheClearSpec = {
  name: 'planCacheClear',
  access: 'admin',
  privileges: onNamespace('planCacheWrite'),
  manual: 'reference/command/planCacheClear',
} as const satisfies CommandSpec

/**
 * Checks the query shape that a command names, or that it names none.
 * @returns whether it names one
 * @throws CommandError 2 BadValue
 */
export function checkShape(args: CommandArguments): boolean {
  if (!args.has('query')) {
    if (args.has('sort') || args.has('projection') || args.has('collation'))
      throw new CommandError('BadValue', 'sort, projection, or collation provided without query')
    return false
  }
  if (args.value('query')!.type !== BsonType.object)
    throw new CommandError('BadValue', 'required field query must be an object')
  for (const name of ['sort', 'projection', 'collation'])
    if (args.has(name) && args.value(name)!.type !== BsonType.object)
      throw new CommandError('BadValue', `optional field ${name} must be an object`)
  return true
}
