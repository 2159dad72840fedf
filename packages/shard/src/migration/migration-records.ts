/**
 * config.migrationCoordinators: the unfinished migrations of a donor.
 * Server: migration_coordinator_document.idl.
 */
import { timestampPair, type MigrationDecision, type PlacementVersionTuple } from '@shardlab/actor'
import { BsonType, DocumentWriter, findField, hexOf, uuidValue, type RawValue } from '@shardlab/bson'
import type { NodeHost } from '@shardlab/node'
import { writePlacementVersion } from '@shardlab/sharding'
import { isRange, parseRange, writeRange, type KeyRange } from '../ranges/key-range.js'
import { Records } from '../common/record-store.js'

export interface MigrationRecord {
  readonly id: Uint8Array
  readonly ns: string
  readonly collectionUuid: Uint8Array
  readonly donor: string
  readonly recipient: string
  readonly range: KeyRange
  /** Of the chunk that contains the range, at the start of the migration. */
  readonly chunkVersion: PlacementVersionTuple
  /** Null: undecided, or the outcome is unknown. */
  readonly decision: MigrationDecision | null
}

export class MigrationRecords extends Records<MigrationRecord, Uint8Array> {
  constructor(node: NodeHost) {
    super(node, { ns: 'config.migrationCoordinators', id: uuidValue, write: writeRecord, read: parseRecord })
  }

  /** Records the decision, unless there is one. The caller flushes the node. */
  decide(id: Uint8Array, decision: MigrationDecision): void {
    this.store.change(uuidValue(id), (document) => {
      if (findField(document, 'decision') !== undefined) return undefined
      return new DocumentWriter(document.length + 32).fields(document).string('decision', decision).finish()
    })
  }
}

function writeRecord(record: MigrationRecord): Uint8Array {
  const { id, ns, collectionUuid, donor, recipient, range, chunkVersion, decision } = record
  const writer = new DocumentWriter(512)
    .uuid('_id', id)
    .string('migrationSessionId', `${donor}_${recipient}_${hexOf(id).slice(0, 24)}`)
    .startDocument('lsid')
    .uuid('id', id)
    .end()
    .int64('txnNumber', 0n)
    .string('nss', ns)
    .uuid('collectionUuid', collectionUuid)
    .string('donorShardId', donor)
    .string('recipientShardId', recipient)
  writeRange(writer, 'range', range)
  writePlacementVersion(writer, 'preMigrationChunkVersion', chunkVersion)
  if (decision !== null) writer.string('decision', decision)
  return writer.finish()
}

function parseRecord(document: Uint8Array): MigrationRecord | undefined {
  const id = findField(document, '_id')
  const ns = findField(document, 'nss')
  const collectionUuid = findField(document, 'collectionUuid')
  const donor = findField(document, 'donorShardId')
  const recipient = findField(document, 'recipientShardId')
  const range = findField(document, 'range')
  const version = parseVersion(findField(document, 'preMigrationChunkVersion'))
  if (id?.type !== BsonType.binary || collectionUuid?.type !== BsonType.binary || version === undefined)
    return undefined
  if (ns?.type !== BsonType.string || donor?.type !== BsonType.string) return undefined
  if (recipient?.type !== BsonType.string || !isRange(range)) return undefined
  const decision = findField(document, 'decision')
  const decided = decision?.type === BsonType.string ? decision.asString() : null
  return {
    id: id.asBinary(),
    ns: ns.asString(),
    collectionUuid: collectionUuid.asBinary(),
    donor: donor.asString(),
    recipient: recipient.asString(),
    range: parseRange(range),
    chunkVersion: version,
    decision: decided === 'committed' || decided === 'aborted' ? decided : null,
  }
}

function parseVersion(value: RawValue | undefined): PlacementVersionTuple | undefined {
  if (value?.type !== BsonType.object) return undefined
  const [epoch, timestamp, version] = ['e', 't', 'v'].map((name) => findField(value.bytes, name, value.start))
  if (
    epoch?.type !== BsonType.objectId ||
    timestamp?.type !== BsonType.timestamp ||
    version?.type !== BsonType.timestamp
  )
    return undefined
  return [hexOf(epoch.slice()), ...timestampPair(timestamp), ...timestampPair(version)]
}
