import type { ActorContext, MigrationStage } from '@shardlab/actor'
import { hexOf, toExtendedJson } from '@shardlab/bson'
import type { KeyRange } from '../ranges/key-range.js'

export interface DescribedMigration {
  readonly id: Uint8Array
  readonly ns: string
  readonly donor: string
  readonly recipient: string
  readonly range: KeyRange
}

export interface MigrationProgress {
  readonly stage: MigrationStage
  /** Received by the recipient. */
  readonly documents: number
  readonly bytes: number
  readonly durationMs: number
}

export function emitMigration(
  context: ActorContext,
  { id, ns, donor, recipient, range }: DescribedMigration,
  progress: MigrationProgress,
): void {
  if (!context.wants('migration')) return
  context.emit({
    type: 'migration',
    atMs: context.now(),
    id: hexOf(id),
    ns,
    from: donor,
    to: recipient,
    min: toExtendedJson(range.min),
    max: toExtendedJson(range.max),
    ...progress,
  })
}
