import type { CommandRow } from '@shardlab/actor'
import { BsonType, CommandError, DocumentWriter, emptyDocument, findField } from '@shardlab/bson'
import { batchSizeOf, listSource, checkMetadataConsistencyPrivileges } from '@shardlab/member'
import type { MongosInvocation } from '../host/mongos-host.js'
import { checkCluster } from '../consistency/check-cluster.js'
import { checkDatabase } from '../consistency/check-database.js'
import { SourceStream } from '../cursors/source-stream.js'
import { openMerged } from '../reads/open-cursor.js'
import { configDocuments } from '../remote/config-documents.js'

/** Server: cluster_check_metadata_consistency_cmd.cpp, metadata_consistency_util.cpp. */
export const checkMetadataConsistency: CommandRow<MongosInvocation> = {
  name: 'checkMetadataConsistency',
  routing: 'all-shards',
  access: 'admin',
  privileges: checkMetadataConsistencyPrivileges,
  opensCursor: true,
  behaviour: 'metadataConsistencyCheck',
  manual: 'reference/command/checkMetadataConsistency',
  status: 'partial',
  deviations: ['D871'],
  summary:
    'Compares the shards with the catalog, and the catalog with itself: for a collection, for a database, or on admin for all.',
  fields: { cursor: 'object', checkIndexes: 'bool', dbMetadataLockMaxTimeMS: 'number' },
  unknownFields: 'ignored',
  async run(invocation) {
    const { args, db } = invocation
    const batchSize = batchSizeOf(args)
    const collection = args.target.type === BsonType.string ? args.collectionName(db) : null
    if (db === 'admin' && collection !== null) {
      throw new CommandError(
        'InvalidNamespace',
        `checkMetadataConsistency command on admin database can only be run without collection name. Found unexpected collection name: ${collection}`,
      )
    }
    const ns = collection === null ? `${db}.$cmd.aggregate` : `${db}.${collection}`
    const checkIndexes = args.bool('checkIndexes') === true
    const found =
      db === 'admin'
        ? await checkCluster(invocation, checkIndexes)
        : await checkDatabase(invocation, {
            db,
            primary: await primaryOf(invocation, db),
            only: collection === null ? null : ns,
            checkIndexes,
          })
    const stream = new SourceStream(listSource(found))
    return openMerged(invocation, ns, stream, { noTimeout: false, batchSize, singleBatch: false })
  },
}

/**
 * Null for the config database.
 * @throws CommandError 26 NamespaceNotFound
 */
async function primaryOf(invocation: MongosInvocation, db: string): Promise<string | null> {
  if (db === 'config') return null
  const [database] = await configDocuments(
    invocation,
    'databases',
    new DocumentWriter(64).string('_id', db).finish(),
    emptyDocument,
  )
  if (database === undefined) throw new CommandError('NamespaceNotFound', `database ${db} not found`)
  return findField(database, 'primary')!.asString()
}
