/**
 * Unfinished operations of coordinators, in the collection that the server uses.
 * Server: sharding_ddl_coordinator.cpp.
 */
import { timestampPair, type DatabaseVersionTuple, type TimestampPair } from '@shardlab/actor'
import { DocumentWriter, elementsOf, findField, hexOf, type RawValue } from '@shardlab/bson'
import type { NodeHost } from '@shardlab/node'
import { parseDatabaseVersion, writeDatabaseVersion } from '@shardlab/sharding'
import { Records } from '../common/record-store.js'

export const ddlRecordsNs = 'config.system.sharding_ddl_coordinators'

export type DdlRecord =
  | CollModRecord
  | CreateCollectionRecord
  | DropCollectionRecord
  | RefineShardKeyRecord
  | RenameCollectionRecord
  | DropDatabaseRecord
  | MovePrimaryRecord
  | ReceiveDatabaseRecord

export interface CollModRecord {
  readonly operation: 'collMod'
  readonly ns: string
  /** The client's command. */
  readonly body: Uint8Array
}

export interface CreateCollectionRecord {
  readonly operation: 'createCollection'
  readonly ns: string
  /** The shardCollection command. */
  readonly body: Uint8Array
  /** UUID of the database's version. */
  readonly databaseUuid: string
  /** Whether the primary shard had the collection before. */
  readonly existed: boolean
}

export interface DropCollectionRecord {
  readonly operation: 'dropCollection'
  readonly ns: string
  readonly sharded: boolean
}

export interface RefineShardKeyRecord {
  readonly operation: 'refineCollectionShardKey'
  readonly ns: string
  readonly uuid: Uint8Array
  readonly key: Uint8Array
  readonly oldKey: Uint8Array
  /** Of the placement with the old key. */
  readonly epoch: string
}

export interface RenameCollectionRecord {
  readonly operation: 'renameCollection'
  readonly ns: string
  readonly to: string
  /** UUID of the source. */
  readonly uuid: Uint8Array
  readonly sharded: boolean
  readonly targetSharded: boolean
}

export interface DropDatabaseRecord {
  readonly operation: 'dropDatabase'
  /** The database's name. */
  readonly ns: string
  /** UUID of the database's version: a later database may have the same name. */
  readonly uuid: string
}

export interface MovePrimaryRecord {
  readonly operation: 'movePrimary'
  /** The database's name. */
  readonly ns: string
  readonly to: string
  readonly namespaces: readonly string[]
  readonly phase: MovePrimaryPhase
  /** See {@link PrimaryMove}. */
  readonly startedAt: TimestampPair
  /** The commit is refused when one of these has changed. */
  readonly databaseVersion: DatabaseVersionTuple
  readonly plannedAt: TimestampPair
}

/**
 * A majority has the phase before it begins: a primary that was replaced can neither commit nor
 * drop copies.
 */
export type MovePrimaryPhase = 'copying' | 'committing' | 'aborting' | 'releasing'

/** Of the new primary shard, while the old one still has the originals. */
export interface ReceiveDatabaseRecord {
  readonly operation: 'receiveDatabase'
  /** The database's name. */
  readonly ns: string
  /** The old primary shard. */
  readonly from: string
}

/** The names that its coordinator locks. */
export function namesOfRecord(record: DdlRecord): string[] {
  return record.operation === 'renameCollection' ? [record.ns, record.to] : [record.ns]
}

type DdlRecordKey = Pick<DdlRecord, 'operation' | 'ns'>

export class DdlRecords extends Records<DdlRecord, DdlRecordKey> {
  readonly #node: NodeHost

  constructor(node: NodeHost) {
    super(node, {
      ns: ddlRecordsNs,
      id: ({ operation, ns }) => ddlRecordId(operation, ns),
      write: writeRecord,
      read: readRecord,
    })
    this.#node = node
  }

  /** Resolves when the record is on the disk. @throws CommandError 14031 OutOfDiskSpace */
  async begin(record: DdlRecord): Promise<void> {
    this.#node.requireRoom()
    this.put(record)
    await this.#node.flushToMajority()
  }

  /** Resolves when the record is deleted from the disk. */
  async finish(record: DdlRecordKey): Promise<void> {
    this.remove(record)
    await this.#node.flushToMajority()
  }
}

function writeRecord(record: DdlRecord): Uint8Array {
  const writer = new DocumentWriter(192).value('_id', ddlRecordId(record.operation, record.ns))
  switch (record.operation) {
    case 'collMod':
      return writer.document('collModRequest', record.body).finish()
    case 'createCollection':
      return writer
        .document('request', record.body)
        .string('databaseUuid', record.databaseUuid)
        .bool('existed', record.existed)
        .finish()
    case 'dropCollection':
      return writer.bool('sharded', record.sharded).finish()
    case 'refineCollectionShardKey':
      return writer
        .uuid('collectionUUID', record.uuid)
        .document('newShardKey', record.key)
        .document('oldKey', record.oldKey)
        .objectId('oldEpoch', Buffer.from(record.epoch, 'hex'))
        .finish()
    case 'renameCollection':
      return writer
        .string('to', record.to)
        .uuid('uuid', record.uuid)
        .bool('sharded', record.sharded)
        .bool('targetSharded', record.targetSharded)
        .finish()
    case 'dropDatabase':
      return writer.string('uuid', record.uuid).finish()
    case 'movePrimary':
      writer.string('toShardId', record.to).startArray('collectionsToClone')
      record.namespaces.forEach((ns, i) => writer.string(String(i), ns))
      writer.end().string('phase', record.phase)
      writeDatabaseVersion(writer, 'version', record.databaseVersion)
      return writer
        .timestamp('startedAt', ...record.startedAt)
        .timestamp('plannedAt', ...record.plannedAt)
        .finish()
    case 'receiveDatabase':
      return writer.string('fromShardId', record.from).finish()
  }
}

/** Undefined: a record of another mechanism. */
function readRecord(document: Uint8Array): DdlRecord | undefined {
  const field = (name: string) => findField(document, name)!
  const { operation, ns } = ddlRecordKey(document)
  switch (operation) {
    case 'createCollection':
      return {
        operation,
        ns,
        body: field('request').slice(),
        databaseUuid: field('databaseUuid').asString(),
        existed: field('existed').isTruthy(),
      }
    case 'collMod':
      return { operation, ns, body: field('collModRequest').slice() }
    case 'dropCollection':
      return { operation: 'dropCollection', ns, sharded: field('sharded').isTruthy() }
    case 'refineCollectionShardKey':
      return {
        operation,
        ns,
        uuid: field('collectionUUID').asBinary().slice(),
        key: field('newShardKey').slice(),
        oldKey: field('oldKey').slice(),
        epoch: hexOf(field('oldEpoch').slice()),
      }
    case 'renameCollection': {
      const uuid = field('uuid')
      return {
        operation: 'renameCollection',
        ns,
        to: field('to').asString(),
        uuid: uuid.asBinary().slice(),
        sharded: field('sharded').isTruthy(),
        targetSharded: field('targetSharded').isTruthy(),
      }
    }
    case 'dropDatabase':
      return { operation: 'dropDatabase', ns, uuid: field('uuid').asString() }
    case 'movePrimary':
      return {
        operation,
        ns,
        to: field('toShardId').asString(),
        namespaces: elementsOf(field('collectionsToClone')).map((each) => each.asString()),
        phase: field('phase').asString() as MovePrimaryPhase,
        startedAt: timestampPair(field('startedAt')),
        databaseVersion: parseDatabaseVersion(document),
        plannedAt: timestampPair(field('plannedAt')),
      }
    case 'receiveDatabase':
      return { operation, ns, from: field('fromShardId').asString() }
    default:
      return undefined
  }
}

export function ddlRecordId(operation: DdlRecord['operation'] | 'reshardCollection', ns: string): RawValue {
  const document = new DocumentWriter(96)
    .startDocument('_id')
    .string('namespace', ns)
    .string('operationType', operation)
    .end()
    .finish()
  return findField(document, '_id')!
}

export function ddlRecordKey(document: Uint8Array): { readonly operation: string; readonly ns: string } {
  const { bytes, start } = findField(document, '_id')!
  const part = (name: string) => findField(bytes, name, start)!.asString()
  return { operation: part('operationType'), ns: part('namespace') }
}
