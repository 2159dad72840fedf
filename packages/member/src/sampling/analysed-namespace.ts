/** Server: validateNamespace of analyze_shard_key_util.cpp. */
import { checkNoNul, isNamespace } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'

/**
 * @throws CommandError 73 InvalidNamespace, 20 IllegalOperation for internal collections of the
 *   server
 */
export function checkAnalysedNamespace(ns: string): readonly [db: string, collection: string] {
  checkNoNul(ns)
  if (!isNamespace(ns)) throw new CommandError('InvalidNamespace', `Invalid namespace specified '${ns}'`)
  const dot = ns.indexOf('.')
  const db = ns.slice(0, dot)
  const name = ns.slice(dot + 1)
  if (db === 'admin' || db === 'config' || db === 'local')
    throw new CommandError('IllegalOperation', 'Cannot run against an internal collection')
  if (name.startsWith('system.')) throw new CommandError('IllegalOperation', 'Cannot run against a system collection')
  if (/^enxcol_\..*\.(esc|ecc|ecoc)$/.test(name))
    throw new CommandError('IllegalOperation', 'Cannot run against an internal collection')
  return [db, name]
}
