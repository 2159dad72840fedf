import type { BlockedNamespaces, PlacementHost, VersionedEntry } from '../host/host.js'
import type { DocumentMoves } from './document-moves.js'

/** What moves of documents use of the shard. */
export interface DocumentMoveHost extends PlacementHost {
  readonly critical: BlockedNamespaces
  readonly versions: VersionedEntry
  readonly documentMoves: DocumentMoves
}
