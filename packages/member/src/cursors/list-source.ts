import type { DocumentSource } from './document-source.js'

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

/** A source with nothing in it. */
export const emptySource: DocumentSource = { next: () => null, isEOF: true }
