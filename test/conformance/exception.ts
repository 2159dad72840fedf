import type { SkipKind } from './skip-kinds.js'

export interface Exception {
  /** Path of the file relative to the folder of the specification. */
  readonly path: string
  /** Exact descriptions of tests; absent: all tests of the file. */
  readonly tests?: readonly string[]
  /** Such as `[3, 4]`: only servers before this version. */
  readonly before?: readonly number[]
  readonly kind: Extract<SkipKind, 'driver' | 'feature' | 'wire' | 'specification'>
  /** Why, as one sentence whose subject is at fault: `the driver …`, `Shardlab …`. */
  readonly reason: string
}
