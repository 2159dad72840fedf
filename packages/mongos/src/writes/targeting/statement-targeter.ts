import { CommandError } from '@shardlab/bson'
import type { CollectionPlacement } from '@shardlab/sharding'
import { boundsShown } from '../../statistics/routed.js'
import type { WriteBatch } from '../batch/write-batch.js'
import type { StatementTarget } from './statement-target.js'
import { targetInsert } from './target-insert.js'
import { targetModify } from './target-modify.js'

/** Each target is computed once for a placement. */
export class StatementTargeter {
  readonly #batch: WriteBatch
  readonly #inserts = new Map<string, StatementTarget>()
  /** The distance of the inserted documents whose bounds events show; Infinity: none. */
  readonly #shownEvery: number
  #placement: CollectionPlacement | null = null
  #allShards: readonly string[] = []
  #targets: (StatementTarget | undefined)[] = []

  constructor(batch: WriteBatch) {
    this.#batch = batch
    const boundsMax = boundsShown(batch.invocation.host)
    this.#shownEvery = boundsMax === 0 ? Infinity : Math.ceil(batch.command.statements.length / boundsMax)
  }

  /** @param allShards for multi-writes */
  use(placement: CollectionPlacement, allShards: readonly string[]): void {
    this.#allShards = allShards
    if (placement === this.#placement) return
    this.#placement = placement
    this.#targets = []
  }

  target(index: number): StatementTarget {
    return (this.#targets[index] ??= this.#compute(this.#placement!, index))
  }

  #compute(placement: CollectionPlacement, index: number): StatementTarget {
    const { command, evaluation, invocation } = this.#batch
    const { behaviours } = invocation.host
    const statement = command.read(index)
    if (statement.kind === 'insert') {
      const toShard = this.#shownEvery !== Infinity && index % this.#shownEvery === 0 ? null : this.#toShard
      return targetInsert(placement, behaviours, statement.document, toShard)
    }
    try {
      return targetModify(
        { placement, behaviours, evaluation, allShards: this.#allShards },
        statement,
        command.statements[index]!,
      )
    } catch (error) {
      if (!(error instanceof CommandError)) throw error
      return { kind: 'failed', error }
    }
  }

  /** All documents for a shard share one target. */
  readonly #toShard = (shard: string): StatementTarget => {
    let target = this.#inserts.get(shard)
    if (target === undefined) {
      target = { kind: 'one', shard, isBroadcast: false, chunks: 1, bounds: [] }
      this.#inserts.set(shard, target)
    }
    return target
  }
}
