import type { DocumentSource } from '../cursors/cursor-manager.js'

/** Documents that are all there already. */
export function listSource(documents: readonly Uint8Array[]): DocumentSource {
  let at = 0
  return {
    next: () => documents[at++] ?? null,
    get isEOF() {
      return at >= documents.length
    },
  }
}
