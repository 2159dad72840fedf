/** The types of pipeline stages. */
import type { RawValue } from '@shardlab/bson'
import type { EvaluationContext, OperatorRow } from '../../context.js'
import type { JoinRequests } from './joins/join-run.js'
import type { StageRun } from './stage-run.js'

export interface CompiledStage {
  readonly name: string
  /** @param requests receives the read requests of a stage that reads other collections */
  open(next: StageRun, requests: JoinRequests): StageRun
}

/** A pipeline inside a stage's argument. */
export type PipelineKind = 'facet' | 'lookup' | 'unionWith' | 'merge'

export interface StageContext {
  readonly evaluation: EvaluationContext
  /**
   * Bytes that a blocking stage may hold; above that it fails with 292
   * QueryExceededMemoryLimitNoDiskUseAllowed.
   */
  readonly memoryLimitBytes: number
  /** Database of the pipeline; '' when it is unknown and no stage needs it. */
  readonly db: string
  /** It is the first stage of the pipeline as compiled. */
  readonly isFirst: boolean
  /** The next stage, for stages that take it into account. */
  readonly following: { readonly name: string; readonly argument: RawValue } | null
  /**
   * Compiles a pipeline inside this stage's argument.
   * @param variables for its expressions; default: those of this stage
   * @throws CommandError for stages that are not allowed there: 40600, 51047, 31441, 72
   *   InvalidOptions
   */
  compilePipeline(
    kind: PipelineKind,
    stages: readonly Uint8Array[],
    variables?: EvaluationContext['variables'],
  ): InnerPipeline
}

export interface InnerPipeline {
  open(next: StageRun, requests: JoinRequests): StageRun
}

/** Another collection that a stage reads, and the pipeline that it runs there. */
export interface ForeignCollection {
  /** Name of the stage that reads it. */
  readonly stage: string
  /** Null: the database of the pipeline. */
  readonly db: string | null
  /** Null: the stages begin with a source of their own. */
  readonly collection: string | null
  readonly stages: readonly Uint8Array[]
}

/** A stage that outputs documents of its own instead of those of a collection. */
export interface StageSource {
  /**
   * `required`: `{aggregate: 'name'}`; `none`: `{aggregate: 1}`; `any`: either.
   */
  readonly collection: 'required' | 'none' | 'any'
}

export interface StageOperator extends OperatorRow {
  /**
   * A source compiles to a pass-through stage: the caller of the pipeline pushes the source's
   * documents.
   */
  compile(argument: RawValue, context: StageContext): CompiledStage
  /** Replaces this stage by others ($count, $sortByCount). */
  readonly rewrite?: (argument: RawValue, context: Pick<EvaluationContext, 'strings'>) => Uint8Array[]
  /** Allowed in the pipeline of an update. */
  readonly inUpdates?: boolean
  /**
   * On a sharded collection: `shards` runs on each shard; any other value splits the pipeline at
   * this stage at the latest.
   */
  readonly sharded: 'shards' | 'sort' | 'group' | 'limit' | 'skip' | 'merger'
  /**
   * Whether it may write to the disk if that is allowed. Absent: it never does. Server:
   * `DiskUseRequirement::kWritesTmpData`.
   */
  readonly spills?: (argument: RawValue) => boolean
  /** The required position; absent: anywhere. */
  readonly position?: 'first' | 'last'
  /** The inner pipelines in which it is not allowed. */
  readonly notIn?: readonly PipelineKind[]
  /** Set for a stage that outputs documents of its own; such a stage is `position: 'first'`. */
  readonly source?: StageSource
  /**
   * It writes its input to a collection; such a stage is `position: 'last'` and compiles to a
   * pass-through stage.
   */
  readonly writes?: boolean
  /** The collections that it reads. Called after `compile`, which has checked the argument. */
  readonly foreign?: (argument: RawValue) => readonly ForeignCollection[]
  /** Pipelines in its argument that run on its own input. */
  readonly nested?: (argument: RawValue) => readonly (readonly Uint8Array[])[]
}

/** A stage that outputs one document or none for each input document. */
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

/**
 * A stage that changes nothing, for sources and writers, whose work is done outside the pipeline.
 */
export function passThroughStage(name: string): CompiledStage {
  return { name, open: (next) => next }
}
