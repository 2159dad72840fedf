import type { RawValue } from '@shardlab/bson'
import type { SessionKey } from '@shardlab/member'
import type { RetryImage } from '@shardlab/storage'

/** The effect of an executed statement. */
export interface ExecutedStatement {
  readonly op: 'i' | 'u' | 'd' | 'n'
  /** `_id` of an inserted or upserted document. */
  readonly insertedId: RawValue | null
  /** The document that a findAndModify returned. */
  readonly image: RetryImage | null
}

/** The history as plain data. */
export type RetryHistoryImage = readonly {
  readonly key: SessionKey
  readonly txnNumber: bigint
  readonly statements: readonly ({ readonly stmtId: number } & ExecutedStatement)[]
}[]
