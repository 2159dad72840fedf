import type { DocumentSource } from './document-source.js'

export function listSource(documents: readonly Uint8Array[]): DocumentSource {
  let at = 0
  return {
    next: () => documents[at++] ?? null,
    get isEOF() {
      return at >= documents.length
    },
  }
}

export const emptySource: DocumentSource = { next: () => null, isEOF: true }
