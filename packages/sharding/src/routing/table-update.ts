import { comparePlacement, type PlacementVersion } from '../model/placement-version.js'
import type { RoutingTable } from './routing-table.js'

/**
 * A routing table as the catalog's answer to a member that knows an older one. Immutable, so that
 * members in one process can share it: the same table results from applying the changed chunks.
 */
export class TableUpdate {
  readonly table: RoutingTable
  /** The version that the member knows; null: none of this generation. */
  readonly #since: PlacementVersion | null
  readonly #documentBytes: number

  /** @param documentBytes the mean size of a chunk in the catalog */
  constructor(table: RoutingTable, since: PlacementVersion | null, documentBytes: number) {
    this.table = table
    this.#since = since
    this.#documentBytes = documentBytes
  }

  /** About how many bytes the documents of the changed chunks have. */
  get sizeBytes(): number {
    const { table } = this
    const count = this.#since === null ? table.chunkCount : table.countNewerThan(this.#since)
    return Math.round(count * this.#documentBytes)
  }

  /** The newer one of this and the known table, of the same generation. */
  newerThan(known: RoutingTable): RoutingTable {
    return comparePlacement(this.table.version, known.version) > 0 ? this.table : known
  }
}
