/** One command of the table of replies. */
import type { Document } from '@shardlab/bson'

/** A field's type; `?` after its path: optional. Fields below `.*` are not checked. */
export type Types = Readonly<Record<string, string | readonly string[]>>

export interface ReplyRow {
  readonly command: Document
  /** Default `types`. */
  readonly db?: string
  /**
   * Every field at the top level must be listed; below it those that matter. Without `ok`,
   * `operationTime` and `$clusterTime`.
   */
  readonly types: Types
}

/** Stands for the cursor id of the previous row. */
export const lastCursor = Symbol('id of the last cursor')

export const admin = 'admin'

/** Types of a cursor's reply; `fields`: `a:int` for each field of its documents. */
export const cursorOf = (batch: 'firstBatch' | 'nextBatch', ...fields: string[]): Types => ({
  cursor: 'object',
  'cursor.id': 'long',
  'cursor.ns': 'string',
  [`cursor.${batch}`]: 'array',
  [`cursor.${batch}[]?`]: 'object',
  ...Object.fromEntries(fields.map((field) => [`cursor.${batch}[].${field.split(':')[0]}`, field.split(':')[1]!])),
})
