import type { RawValue } from '@shardlab/bson'

/** The parts of an event, before it is written. Null: the event does not have the part. */
export interface EventParts {
  readonly type: string
  readonly ns: string
  readonly uuid: Uint8Array | null
  readonly documentKey: Uint8Array | null
  readonly fullDocument: Uint8Array | null
  /** Of an update: `diff`. */
  readonly difference: RawValue | null
  readonly description: Uint8Array | null
  /** Of a rename. */
  readonly to: string | null
  readonly stateBefore: Uint8Array | null
  readonly nsType: 'collection' | 'view' | null
  /** Of an event about resharding. */
  readonly reshardingUuid: RawValue | null
  /** Whether the event lacks `ns` and `documentKey`, which is part of its token only. */
  readonly isShort: boolean
}
