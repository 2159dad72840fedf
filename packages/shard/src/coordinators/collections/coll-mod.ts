/**
 * While a sharded collection is modified, none of its chunks changes its owner: the new one would
 * keep the former options. A record makes sure that migrations are permitted again afterwards.
 * Manual: reference/command/collMod.
 * Server: collmod_coordinator.cpp.
 */
import { configAddress, isGenericArgument, type ReplyOf } from '@shardlab/actor'
import { CommandError, DocumentWriter, ErrorCodes, fieldsOf, hexOf } from '@shardlab/bson'
import { databaseNameOf } from '@shardlab/member'
import { raiseError, retryUntilDone } from '@shardlab/node'
import { formatDocument } from '@shardlab/query'
import type { Coordination, DdlRecovery } from '../ddl-coordinators.js'
import type { CoordinatorHost } from '../ddl-host.js'
import type { CollModRecord } from '../ddl-records.js'
import { askOwners, type DefinitionChange } from './ask-owners.js'

/** Equal requests share one run. */
export function collModRun({ ns, body }: DefinitionChange): Required<Pick<Coordination, 'args' | 'conflict'>> {
  const writer = new DocumentWriter(body.length)
  for (const [name, value] of fieldsOf(body).slice(1)) if (!isGenericArgument(name)) writer.value(name, value)
  const changes = writer.finish()
  return {
    args: hexOf(changes),
    conflict: `Another collMod for namespace ${ns} is being executed with different parameters: ${formatDocument(changes)}`,
  }
}

/** The caller holds the lock. */
export async function modifyCollection(
  host: CoordinatorHost,
  change: DefinitionChange,
): Promise<ReplyOf<'shard.change-definition'>> {
  const { placements, ddl } = host
  const { ns, body } = change
  const placement = await placements.refreshCollection(ns)
  if (placement === null || placement.isUnsplittable) return askOwners(host, change)
  const record: CollModRecord = { operation: 'collMod', ns, body }
  await ddl.records.begin(record)
  return withoutMigrations(host, record, () => askOwners(host, change))
}

async function withoutMigrations<T>(host: CoordinatorHost, record: CollModRecord, work: () => Promise<T>): Promise<T> {
  const { node, ddl } = host
  const { ns } = record
  try {
    await permitMigrations(host, ns, false)
    await node.context.reach('shard.coll-mod.migrations-stopped', { ns })
    return await work()
  } finally {
    // After a shutdown the next start resumes it.
    if (!node.stopping.signal.aborted) {
      await permitMigrations(host, ns, true)
      await ddl.records.finish(record)
    }
  }
}

async function permitMigrations({ node }: CoordinatorHost, ns: string, allowMigrations: boolean): Promise<void> {
  const request = { ns, allowMigrations }
  const send = async () =>
    raiseError((await node.context.request(configAddress, 'config.set-allow-migrations', request)).error)
  try {
    await retryUntilDone(node, send, ({ code }) => allowMigrations && code === ErrorCodes.OutOfDiskSpace)
  } catch (error) {
    // A client may have removed the entry of the collection.
    const isGone = error instanceof CommandError && error.code === ErrorCodes.NamespaceNotSharded
    if (!allowMigrations || !isGone) throw error
  }
}

export const collModRecovery: DdlRecovery<CollModRecord, CoordinatorHost> = {
  hold: (_, __, work) => work(),
  async resume(host, record) {
    const { ns, body } = record
    await withoutMigrations(host, record, async () => {
      const database = await host.placements.refreshDatabase(databaseNameOf(ns))
      if (database === null) return
      const { version: databaseVersion } = database
      await askOwners(host, { ns, command: 'collMod', body, sequences: [], databaseVersion })
    })
  },
}
