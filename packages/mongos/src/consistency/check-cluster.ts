/**
 * Server: cluster_check_metadata_consistency_cmd.cpp,
 * configsvr_check_cluster_metadata_consistency_command.cpp.
 */
import { emptyDocument, findField, DocumentWriter } from '@shardlab/bson'
import { databaseNameOf } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'
import { configDocuments } from '../remote/config-documents.js'
import { checkDatabase } from './check-database.js'
import { inconsistency } from './inconsistency.js'

/** @throws CommandError of members or of the requests to them */
export async function checkCluster(invocation: MongosInvocation, checkIndexes: boolean): Promise<Uint8Array[]> {
  const databases = new Map(
    (await configDocuments(invocation, 'databases', emptyDocument, byId)).map((database) => [
      findField(database, '_id')!.asString(),
      findField(database, 'primary')!.asString(),
    ]),
  )
  const found: Uint8Array[] = []
  for (const [db, primary] of [...databases, ['config', null] as const])
    found.push(...(await checkDatabase(invocation, { db, primary, only: null, checkIndexes })))
  for (const collection of await configDocuments(invocation, 'collections', emptyDocument, byId)) {
    const ns = findField(collection, '_id')!.asString()
    const db = databaseNameOf(ns)
    if (db === 'config' || databases.has(db)) continue
    found.push(
      inconsistency(
        'HiddenShardedCollection',
        'Found sharded collection but relative database does not exist',
        ns,
        (details) => details.document('collection', collection),
      ),
    )
  }
  return found
}

const byId = new DocumentWriter(32).int32('_id', 1).finish()
