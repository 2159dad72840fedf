import { CommandError } from '@shardlab/bson'
import type { CollectionPlacement } from '@shardlab/sharding'
import type { BatchWriteExecutor } from './batch-write-executor.js'
import type { StatementTarget } from './statement-target.js'
import { targetInsert } from './target-insert.js'
import { targetDelete, targetUpdate } from './target-modify.js'

/** Targets of the statements of one batch; each is computed once for a placement. */
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
    return (this.#targets[index] ??= this.#compute(this.#placement!, this.#executor.command.statements[index]!))
  }

  #compute(placement: CollectionPlacement, statement: Uint8Array): StatementTarget {
    const { command, evaluation, invocation } = this.#executor
    const { behaviours } = invocation.host
    if (command.kind === 'insert') return targetInsert(placement, behaviours, statement, this.#wantsBounds)
    const targeter = { placement, behaviours, evaluation, allShards: this.#allShards }
    try {
      return command.kind === 'update' ? targetUpdate(targeter, statement) : targetDelete(targeter, statement)
    } catch (error) {
      if (!(error instanceof CommandError)) throw error
      return { kind: 'failed', error }
    }
  }
}
