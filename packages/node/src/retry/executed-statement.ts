import type { RawValue } from '@shardlab/bson'
import type { SessionKey } from '@shardlab/member'
import type { RetryImage } from '@shardlab/storage'

/** What an executed statement had done. */
export interface ExecutedStatement {
  readonly op: 'i' | 'u' | 'd' | 'n'
  /** `_id` of an inserted document (an upsert's too). */
  readonly insertedId: RawValue | null
  /** Of a findAndModify: the document that it answered with. */
  readonly image: RetryImage | null
}

/** The history as plain data. */
export type RetryHistoryImage = readonly {
  readonly key: SessionKey
  readonly txnNumber: bigint
  readonly statements: readonly ({ readonly stmtId: number } & ExecutedStatement)[]
}[]
