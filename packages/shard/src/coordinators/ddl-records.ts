/**
 * What a coordinator has begun and not yet finished, kept on the primary shard's disk where the server keeps it: a repeated command finds
 * out that there is work left, before and after a restart. Server: sharding_ddl_coordinator.cpp, config.system.sharding_ddl_coordinators.
 */
import { DocumentWriter, emptyDocument, findField } from '@shardlab/bson'
import { createCollection, type StorageNode } from '@shardlab/node'

const recordsNs = 'config.system.sharding_ddl_coordinators'

export type DdlOperation = 'dropCollection'

export class DdlRecords {
  readonly #node: StorageNode

  constructor(node: StorageNode) {
    this.#node = node
  }

  /** Has this been begun and not finished? */
  isPending(operation: DdlOperation, ns: string): boolean {
    return this.#node.collection(recordsNs)?.findById(idOf(operation, ns)) !== undefined
  }

  /** Resolves when the record is on the disk. */
  async begin(operation: DdlOperation, ns: string): Promise<void> {
    if (this.isPending(operation, ns)) return
    const { uuid } = this.#node.collection(recordsNs) ?? createCollection(this.#node, recordsNs, emptyDocument)
    const id = idOf(operation, ns)
    this.#node.apply({ op: 'i', ns: recordsNs, uuid, object: new DocumentWriter(96).value('_id', id).finish(), id, session: null })
    await this.#node.flush()
  }

  /** {@link StorageNode.flush} may follow. */
  finish(operation: DdlOperation, ns: string): void {
    if (!this.isPending(operation, ns)) return
    const { uuid } = this.#node.collection(recordsNs)!
    const id = idOf(operation, ns)
    this.#node.apply({ op: 'd', ns: recordsNs, uuid, object: new DocumentWriter(96).value('_id', id).finish(), id, session: null })
  }
}

function idOf(operation: DdlOperation, ns: string) {
  const document = new DocumentWriter(96).startDocument('_id').string('namespace', ns).string('operationType', operation).end().finish()
  return findField(document, '_id')!
}
