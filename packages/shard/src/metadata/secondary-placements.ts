/**
 * When a secondary may use a placement that it has cached. Its primary changes placements under
 * records, which replicate: a read that has waited for such a record, or for a later entry, must
 * not use a placement from before it. Server: entries in config.cache.collections, and refreshes
 * that wait for the critical section of the primary.
 */
import { findField } from '@shardlab/bson'
import { databaseNameOf } from '@shardlab/member'
import type { NodeHost } from '@shardlab/node'
import type { CollectionPlacement } from '@shardlab/sharding'
import type { LogEntry } from '@shardlab/storage'
import { RecordStore } from '../common/record-store.js'
import { ddlRecordKey, ddlRecordsNs } from '../coordinators/ddl-records.js'
import type { DatabasePlacement } from '../host/host.js'
import type { PlacementState } from './placement-state.js'

/** Collections of records, and the field with the namespace. */
const recordFields: ReadonlyMap<string, string> = new Map([
  ['config.migrationCoordinators', 'nss'],
  ['config.localReshardingOperations.donor', 'ns'],
  ['config.localReshardingOperations.recipient', 'ns'],
])

export class SecondaryPlacements {
  readonly #placements: PlacementState
  readonly #stores: readonly (readonly [RecordStore, field: string])[]
  readonly #ddl: RecordStore

  constructor(node: NodeHost, placements: PlacementState) {
    this.#placements = placements
    this.#stores = [...recordFields].map(([ns, field]) => [new RecordStore(node, ns), field] as const)
    this.#ddl = new RecordStore(node, ddlRecordsNs)
  }

  /** Whether the primary may be changing the placement now. */
  isUnsettled(ns: string): boolean {
    for (const [store, field] of this.#stores)
      if (store.all().some((document) => findField(document, field)?.asString() === ns)) return true
    const names = [ns, databaseNameOf(ns)]
    return this.#ddl
      .all()
      .some((document) => names.includes(ddlRecordKey(document).ns) || findField(document, 'to')?.asString() === ns)
  }

  /** Call it after each entry of the primary. */
  applied({ op, ns }: LogEntry): void {
    if (op === 'c' || recordFields.has(ns) || ns === ddlRecordsNs) this.#placements.forgetAll()
  }

  /** As the catalog has it at a time after the call. @throws CommandError 133 */
  collectionNow(ns: string): Promise<CollectionPlacement | null> {
    return this.#placements.refreshCollectionAnew(ns)
  }

  /** As {@link collectionNow}. */
  databaseNow(db: string): Promise<DatabasePlacement | null> {
    return this.#placements.refreshDatabaseAnew(db)
  }
}
