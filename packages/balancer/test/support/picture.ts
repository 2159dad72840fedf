import {
  chunkCountLoad,
  dataSizeLoad,
  Distribution,
  selectMigrations,
  type ChunkPlace,
  type Migration,
  type Selection,
  type ShardStatistics,
  type ZoneRange,
} from '../../src/index.js'

export interface Shard {
  readonly chunks: number | readonly ('jumbo' | 'chunk')[]
  readonly draining?: true
  readonly full?: true
  readonly zones?: readonly string[]
  readonly bytes?: number
}

export const keyOf = (position: number) => String(position).padStart(5, '0')

export interface Picture {
  readonly shards: readonly ShardStatistics[]
  readonly chunks: readonly ChunkPlace[]
}

/** Chunks follow each other in the key space, shard after shard: chunk n is [n, n + 1). */
export function picture(...described: readonly Shard[]): Picture {
  const shards: ShardStatistics[] = []
  const chunks: ChunkPlace[] = []
  described.forEach(({ chunks: own, draining, full, zones }, i) => {
    const id = String.fromCodePoint(97 + i)
    shards.push({ id, isDraining: draining === true, isFull: full === true, zones: zones ?? [] })
    const kinds = typeof own === 'number' ? Array.from({ length: own }, () => 'chunk') : own
    for (const kind of kinds) {
      const at = chunks.length
      chunks.push({ min: keyOf(at), max: keyOf(at + 1), shard: id, isJumbo: kind === 'jumbo' })
    }
  })
  return { shards, chunks }
}

export const zone = (from: number, to: number, name: string): ZoneRange => ({
  min: keyOf(from),
  max: keyOf(to),
  zone: name,
})

const text = (migrations: readonly Migration[]) =>
  migrations.map(({ from, to, chunk, reason }) => `${from}>${to} ${Number(chunk.min)} ${reason}`)

export function byCount(
  described: readonly Shard[],
  ranges: readonly ZoneRange[] = [],
  used: readonly string[] = [],
): string[] {
  const { shards, chunks } = picture(...described)
  const distribution = new Distribution(chunks, ranges)
  const available = new Set(shards.map(({ id }) => id).filter((id) => !used.includes(id)))
  const load = chunkCountLoad(shards, distribution)
  const { migrations } = selectMigrations({ shards, distribution, load, available, attemptJumbo: false })
  for (const { because } of migrations) if (!/^[a-z] .*\d/.test(because)) throw new Error(`no reason: ${because}`)
  return text(migrations)
}

export function bySize(
  described: readonly Shard[],
  ranges: readonly ZoneRange[] = [],
  used: readonly string[] = [],
): string[] {
  return text(selectionBySize(described, ranges, used).migrations)
}

export function selectionBySize(
  described: readonly Shard[],
  ranges: readonly ZoneRange[] = [],
  used: readonly string[] = [],
): Selection {
  const { shards, chunks } = picture(...described)
  const distribution = new Distribution(chunks, ranges)
  const bytes = new Map(
    described.flatMap((shard, i) => (shard.bytes === undefined ? [] : [[shards[i]!.id, shard.bytes] as const])),
  )
  const load = dataSizeLoad(shards, { bytes, maxChunkSizeBytes: 100 })
  const available = new Set(shards.map(({ id }) => id).filter((id) => !used.includes(id)))
  return selectMigrations({ shards, distribution, load, available, attemptJumbo: false })
}
