/** What pipeline stages are made of. */
import type { RawValue } from '@shardlab/bson'
import type { EvaluationContext, OperatorRow } from '../../context.js'

/** A stage at work: takes documents, gives them to the next. */
export interface StageRun {
  push(document: Uint8Array): void
  /** There is no more input. */
  end(): void
  /** More input cannot change the result. */
  readonly satisfied: boolean
}

export interface CompiledStage {
  readonly name: string
  open(next: StageRun): StageRun
}

export interface StageContext {
  readonly evaluation: EvaluationContext
  /** Bytes that a blocking stage may hold; beyond: QueryExceededMemoryLimitNoDiskUseAllowed (292). */
  readonly memoryLimitBytes: number
  /** Another pipeline over the same kind of input ($facet). */
  compilePipeline(stages: readonly Uint8Array[]): { open(): StageRun & { readonly output: Uint8Array[] } }
}

export interface StageOperator extends OperatorRow {
  compile(argument: RawValue, context: StageContext): CompiledStage
  /** Other stages that this one stands for ($count, $sortByCount). */
  readonly rewrite?: (argument: RawValue) => Uint8Array[]
  /** May stand in the pipeline of an update. */
  readonly inUpdates?: boolean
  /**
   * How it runs on a sharded collection: `shards` = on each shard alone; else it splits the pipeline, at the latest here.
   */
  readonly sharded: 'shards' | 'sort' | 'group' | 'limit' | 'skip' | 'merger'
}

/** A stage that gives one document, or none, for each. */
export function mapStage(name: string, map: (document: Uint8Array) => Uint8Array | null): CompiledStage {
  return {
    name,
    open: (next) => ({
      push(document) {
        const result = map(document)
        if (result !== null) next.push(result)
      },
      end: () => next.end(),
      get satisfied() {
        return next.satisfied
      },
    }),
  }
}
