import type { BlockedNamespaces, PlacementHost, VersionedEntry } from '../host/host.js'
import type { DocumentMoves } from './document-moves.js'

export interface DocumentMoveHost extends PlacementHost {
  readonly critical: BlockedNamespaces
  readonly versions: VersionedEntry
  readonly documentMoves: DocumentMoves
}
