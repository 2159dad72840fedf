import { noZone, type ChunkPlace, type ZonedChunk } from './distribution.js'
import type { Migration, MigrationReason } from './migration.js'
import type { Selection, SelectionInput } from './select-migrations.js'

/** One collection in one round. Chunks that zones cut have been split before. */
export interface PolicySituation {
  readonly ns: string
  readonly chunkSizeBytes: number
  /** In the order of config.shards. */
  readonly shards: readonly PolicyShard[]
  /** In key order. */
  readonly chunks: readonly PolicyChunk[]
}

export interface PolicyShard {
  readonly id: string
  readonly isDraining: boolean
  readonly zones: readonly string[]
  /** Without orphans; null: the shard did not reply, or the version counts chunks. */
  readonly bytes: number | null
  /**
   * Whether it may donate or receive a chunk in this round: false while it does so for another
   * collection.
   */
  readonly isAvailable: boolean
}

export interface PolicyChunk {
  readonly shard: string
  /** Bounds are relaxed Extended JSON, computed on access. */
  readonly min: string
  readonly max: string
  readonly isJumbo: boolean
  /** The zone that contains the whole chunk; null: none. */
  readonly zone: string | null
}

/** Each shard takes part in at most one move per round, as donor or recipient. */
export interface PolicyMove {
  /** Index in {@link PolicySituation.chunks}. */
  readonly chunk: number
  readonly to: string
  readonly reason: MigrationReason
  /** One sentence for people. */
  readonly because: string
}

/** Must be deterministic: equal situations give equal moves. The situation is frozen. */
export type BalancePolicy = (situation: PolicySituation) => readonly PolicyMove[]

export interface CustomPolicyInput extends SelectionInput {
  readonly ns: string
  readonly chunkSizeBytes: number
  readonly bytes: ReadonlyMap<string, number>
  /** As in {@link PolicyChunk}. */
  readonly boundsOf: (chunk: ChunkPlace) => { readonly min: string; readonly max: string }
}

/**
 * The counterpart of {@link selectMigrations}. Removes the shards of the moves from `available`.
 */
export function selectByCustomPolicy(policy: BalancePolicy, input: CustomPolicyInput): Selection {
  const { ns, chunkSizeBytes, shards, distribution, bytes, available, attemptJumbo, boundsOf } = input
  const placed = shards
    .flatMap(({ id }) => distribution.chunksOn(id))
    .toSorted(({ chunk: a }, { chunk: b }) => (a.min < b.min ? -1 : 1))
  const situation: PolicySituation = {
    ns,
    chunkSizeBytes,
    shards: Object.freeze(
      shards.map(({ id, isDraining, zones }) =>
        Object.freeze({
          id,
          isDraining,
          zones: Object.freeze([...zones]),
          bytes: bytes.get(id) ?? null,
          isAvailable: available.has(id),
        }),
      ),
    ),
    chunks: Object.freeze(placed.map((each) => Object.freeze(new ChunkOfSituation(each, boundsOf)))),
  }
  const moves = policy(Object.freeze(situation))
  const migrations = moves.map(({ chunk: index, to, reason, because }): Migration => {
    const { chunk } = placed[index]!
    available.delete(chunk.shard)
    available.delete(to)
    return { chunk, from: chunk.shard, to, reason, because, force: attemptJumbo || reason === 'draining' }
  })
  return { migrations, notes: migrations.length === 0 ? ['the policy returned no moves'] : [], blocked: [] }
}

class ChunkOfSituation implements PolicyChunk {
  readonly shard: string
  readonly isJumbo: boolean
  readonly zone: string | null
  readonly #chunk: ChunkPlace
  readonly #boundsOf: CustomPolicyInput['boundsOf']

  constructor({ chunk, zone }: ZonedChunk, boundsOf: CustomPolicyInput['boundsOf']) {
    this.shard = chunk.shard
    this.isJumbo = chunk.isJumbo
    this.zone = zone === noZone ? null : zone
    this.#chunk = chunk
    this.#boundsOf = boundsOf
  }

  get min(): string {
    return this.#boundsOf(this.#chunk).min
  }

  get max(): string {
    return this.#boundsOf(this.#chunk).max
  }
}
