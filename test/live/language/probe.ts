import type { Document } from '@shardlab/bson'
import type { Language } from '@shardlab/query'

export interface Refusal {
  /** Null: the feature has no effect instead. 0: the error has none. */
  readonly code: number | null
  readonly message: RegExp
}

export interface Probe {
  readonly command: Document
  /** What the command gets in a version without the feature. */
  readonly refusal: (language: Language) => Refusal
}
