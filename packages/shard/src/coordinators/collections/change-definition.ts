/**
 * collMod and dropIndexes on the primary shard: while it holds the lock of the collection, the
 * collection's owners run the client's command.
 * Server: shardsvr_drop_indexes_command.cpp, collmod_coordinator.cpp.
 */
import type { ReplyOf } from '@shardlab/actor'
import type { CoordinatorHost } from '../ddl-host.js'
import { askOwners, type DefinitionChange } from './ask-owners.js'
import { collModRun, modifyCollection } from './coll-mod.js'

export function changeDefinition(
  host: CoordinatorHost,
  change: DefinitionChange,
): Promise<ReplyOf<'shard.change-definition'>> {
  const { ns, command, databaseVersion } = change
  const coordination = { operation: command, names: [ns], databaseVersion }
  return command === 'collMod'
    ? host.ddl.coordinate(host, { ...coordination, ...collModRun(change) }, () => modifyCollection(host, change))
    : host.ddl.coordinate(host, { ...coordination, args: null }, () => askOwners(host, change))
}
