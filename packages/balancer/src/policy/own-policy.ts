/** A policy of the user's own in place of the server's: from how one collection lies on the shards to what is to move. */
import { noZone, type ChunkPlace, type ZonedChunk } from './distribution.js'
import type { Migration, MigrationReason } from './migration.js'
import type { Selection, SelectionInput } from './select-migrations.js'

/** What a policy is asked about: one collection, in one round. Chunks that zones cut have been split before. */
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
  /** Of the collection, without orphans; null: the shard has not answered, or the version counts chunks and does not ask. */
  readonly bytes: number | null
  /** May it give or take a chunk in this round? One that does for another collection already may not. */
  readonly isAvailable: boolean
}

export interface PolicyChunk {
  readonly shard: string
  /** Bounds as relaxed Extended JSON texts, made when they are read. */
  readonly min: string
  readonly max: string
  readonly isJumbo: boolean
  /** The zone in which it is; null: in none. */
  readonly zone: string | null
}

/** A decision. A shard takes part in one of them for each round, as giver or as taker. */
export interface PolicyMove {
  /** Index in {@link PolicySituation.chunks}. */
  readonly chunk: number
  readonly to: string
  readonly reason: MigrationReason
  /** One sentence for people. */
  readonly because: string
}

/** Equal situations give equal moves. What it is given cannot be changed: moves name chunks by their place in it. */
export type BalancePolicy = (situation: PolicySituation) => readonly PolicyMove[]

export interface OwnPolicyInput extends SelectionInput {
  readonly ns: string
  readonly chunkSizeBytes: number
  readonly bytes: ReadonlyMap<string, number>
  /** A chunk's bounds as {@link PolicyChunk} has them. */
  readonly boundsOf: (chunk: ChunkPlace) => { readonly min: string; readonly max: string }
}

/** What the policy decides, as {@link selectMigrations} would have; shards that take part are no longer available. */
export function selectByOwnPolicy(policy: BalancePolicy, input: OwnPolicyInput): Selection {
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
  return { migrations, notes: migrations.length === 0 ? ['the policy wants nothing to move'] : [] }
}

class ChunkOfSituation implements PolicyChunk {
  readonly shard: string
  readonly isJumbo: boolean
  readonly zone: string | null
  readonly #chunk: ChunkPlace
  readonly #boundsOf: OwnPolicyInput['boundsOf']

  constructor({ chunk, zone }: ZonedChunk, boundsOf: OwnPolicyInput['boundsOf']) {
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
