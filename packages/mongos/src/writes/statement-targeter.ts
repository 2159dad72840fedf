import { CommandError } from '@shardlab/bson'
import type { CollectionPlacement } from '@shardlab/sharding'
import type { BatchWriteExecutor } from './batch-write-executor.js'
import type { StatementTarget } from './statement-target.js'
import { targetInsert } from './target-insert.js'
import { targetModify } from './target-modify.js'

/** Targets of the statements of one batch on one collection; each is computed once for a placement. */
export class StatementTargeter {
  readonly #executor: BatchWriteExecutor
  readonly #wantsBounds: boolean
  #placement: CollectionPlacement | null = null
  #allShards: readonly string[] = []
  #targets: (StatementTarget | undefined)[] = []

  constructor(executor: BatchWriteExecutor) {
    this.#executor = executor
    this.#wantsBounds = executor.invocation.host.context.wants('routed')
  }

  /** Targets are by this placement from now on. `allShards`: every shard of the cluster, for statements that need to know. */
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
    const { command, evaluation, invocation } = this.#executor
    const { behaviours } = invocation.host
    const statement = command.read(index)
    if (statement.kind === 'insert') return targetInsert(placement, behaviours, statement.document, this.#wantsBounds)
    try {
      return targetModify({ placement, behaviours, evaluation, allShards: this.#allShards }, statement, command.statements[index]!)
    } catch (error) {
      if (!(error instanceof CommandError)) throw error
      return { kind: 'failed', error }
    }
  }
}
