/** Server: MergeAndMeasureChunksPhase, MergeChunksPhase, SplitChunksPhase. */
import type { KnownChunk } from '../chunks/chunk-map.js'
import { boundsOf, runsOf, type Action, type ZoneOf } from './phase.js'
import { ActionPhase } from './shard-actions.js'

export class MergeAndMeasureChunksPhase extends ActionPhase {
  readonly name = 'mergeAndMeasureChunks'

  constructor(chunks: readonly KnownChunk[], zoneOf: ZoneOf) {
    super('moveAndMergeChunks')
    for (const run of runsOf(chunks, zoneOf)) {
      const { shard, estimatedBytes } = run[0]!
      if (run.length > 1) this.add({ kind: 'merge', shard, range: boundsOf(run) })
      else if (estimatedBytes === null) this.add({ kind: 'measure', shard, range: run[0]! })
    }
  }

  protected succeeded({ kind, shard, range }: Action): void {
    if (kind === 'merge') this.add({ kind: 'measure', shard, range })
  }
}

export class MergeChunksPhase extends ActionPhase {
  readonly name = 'mergeChunks'

  constructor(chunks: readonly KnownChunk[], zoneOf: ZoneOf, splitsAtTheEnd: boolean) {
    super(splitsAtTheEnd ? 'splitChunks' : 'finished')
    for (const run of runsOf(chunks, zoneOf))
      if (run.length > 1) this.add({ kind: 'merge', shard: run[0]!.shard, range: boundsOf(run) })
  }

  protected succeeded(): void {}
}

export class SplitChunksPhase extends ActionPhase {
  readonly name = 'splitChunks'

  constructor(chunks: readonly KnownChunk[], maxChunkSizeBytes: number) {
    super('finished')
    for (const chunk of chunks)
      if (chunk.estimatedBytes === null || chunk.estimatedBytes > maxChunkSizeBytes)
        this.add({ kind: 'find-split-points', shard: chunk.shard, range: chunk })
  }

  protected succeeded({ kind, shard, range }: Action, points: readonly Uint8Array[]): void {
    if (kind === 'find-split-points' && points.length > 0) this.add({ kind: 'split', shard, range, points })
  }
}
