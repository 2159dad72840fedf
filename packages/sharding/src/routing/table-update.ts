import { comparePlacement, type PlacementVersion } from '../model/placement-version.js'
import type { RoutingTable } from './routing-table.js'

/**
 * A routing table as the catalog's answer to a member that has an older one. Immutable, so that
 * members in one process can share it. Applying the changed chunks gives the same table.
 */
export class TableUpdate {
  readonly table: RoutingTable
  /** The member's version; null: it has no table of this generation. */
  readonly #since: PlacementVersion | null
  readonly #documentBytes: number

  /** @param documentBytes mean size of a chunk document in the catalog */
  constructor(table: RoutingTable, since: PlacementVersion | null, documentBytes: number) {
    this.table = table
    this.#since = since
    this.#documentBytes = documentBytes
  }

  /** Approximate size of the documents of the changed chunks. */
  get sizeBytes(): number {
    const { table } = this
    const count = this.#since === null ? table.chunkCount : table.countNewerThan(this.#since)
    return Math.round(count * this.#documentBytes)
  }

  /** @param known a table of the same generation */
  newerThan(known: RoutingTable): RoutingTable {
    return comparePlacement(this.table.version, known.version) > 0 ? this.table : known
  }
}
