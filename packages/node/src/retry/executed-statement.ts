import type { RawValue } from '@shardlab/bson'
import type { RetryImage } from '@shardlab/storage'

export interface ExecutedStatement {
  readonly op: 'i' | 'u' | 'd' | 'n'
  readonly insertedId: RawValue | null
  /** The document that a findAndModify returned. */
  readonly image: RetryImage | null
}
