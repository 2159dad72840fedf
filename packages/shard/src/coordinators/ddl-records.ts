/**
 * What a coordinator has begun and not yet finished, kept on the primary shard's disk where the server keeps it.
 * Server: sharding_ddl_coordinator.cpp, config.system.sharding_ddl_coordinators.
 */
import { DocumentWriter, findField, type RawValue } from '@shardlab/bson'
import type { StorageNode } from '@shardlab/node'
import { RecordStore } from '../record-store.js'

export const ddlRecordsNs = 'config.system.sharding_ddl_coordinators'

/** One operation that has to be carried to its end. */
export type DdlRecord = DropCollectionRecord | RenameCollectionRecord | DropDatabaseRecord

export interface DropCollectionRecord {
  readonly operation: 'dropCollection'
  readonly ns: string
  readonly sharded: boolean
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
  /** UUID of the database's version: another database may get the name afterwards. */
  readonly uuid: string
}

export class DdlRecords {
  readonly #node: StorageNode
  readonly #store: RecordStore

  constructor(node: StorageNode) {
    this.#node = node
    this.#store = new RecordStore(node, ddlRecordsNs)
  }

  /** All that are on the disk. */
  all(): DdlRecord[] {
    return this.#store.all().flatMap((document) => readRecord(document) ?? [])
  }

  /** Resolves when the record is on the disk. */
  async begin(record: DdlRecord): Promise<void> {
    this.#node.requireRoom()
    this.#store.put(writeRecord(record))
    await this.#node.flush()
  }

  /** Resolves when it is gone from the disk. */
  async finish({ operation, ns }: DdlRecord): Promise<void> {
    this.#store.remove(ddlRecordId(operation, ns))
    await this.#node.flush()
  }
}

function writeRecord(record: DdlRecord): Uint8Array {
  const writer = new DocumentWriter(192).value('_id', ddlRecordId(record.operation, record.ns))
  switch (record.operation) {
    case 'dropCollection':
      return writer.bool('sharded', record.sharded).finish()
    case 'renameCollection':
      return writer
        .string('to', record.to)
        .uuid('uuid', record.uuid)
        .bool('sharded', record.sharded)
        .bool('targetSharded', record.targetSharded)
        .finish()
    case 'dropDatabase':
      return writer.string('uuid', record.uuid).finish()
  }
}

/** Null: a record of another mechanism. */
function readRecord(document: Uint8Array): DdlRecord | null {
  const field = (name: string) => findField(document, name)!
  const id = field('_id')
  const ns = findField(id.bytes, 'namespace', id.start)!.asString()
  switch (findField(id.bytes, 'operationType', id.start)!.asString()) {
    case 'dropCollection':
      return { operation: 'dropCollection', ns, sharded: field('sharded').isTruthy() }
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
    default:
      return null
  }
}

/** `_id` of a record: its collection or database, and what is being done there. */
export function ddlRecordId(operation: DdlRecord['operation'] | 'movePrimary', ns: string): RawValue {
  const document = new DocumentWriter(96).startDocument('_id').string('namespace', ns).string('operationType', operation).end().finish()
  return findField(document, '_id')!
}
