import type { RawValue } from '@shardlab/bson'
import type { EvaluationContext, OperatorRow } from '../../context.js'
import type { StageWork } from './stage-work.js'
import type { StageRun } from './stage-run.js'

export interface CompiledStage {
  readonly name: string
  /** @param rest receives work that cannot be completed within a call of `push` or `end` */
  open(next: StageRun, rest: StageWork): StageRun
}

export type PipelineKind = 'facet' | 'lookup' | 'unionWith' | 'merge'

export interface StageContext {
  readonly evaluation: EvaluationContext
  /** Above it, a blocking stage fails with 292 QueryExceededMemoryLimitNoDiskUseAllowed. */
  readonly memoryLimitBytes: number
  /** '' when it is unknown and no stage needs it. */
  readonly db: string
  /** The first stage of the pipeline as compiled. */
  readonly isFirst: boolean
  /** The next stage; null: this is the last one. */
  readonly following: { readonly name: string; readonly argument: RawValue } | null
  /**
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
  open(next: StageRun, rest: StageWork): StageRun
}

export interface ForeignCollection {
  readonly stage: string
  /** Null: the database of the pipeline. */
  readonly db: string | null
  /** Null: the stages begin with a source of their own. */
  readonly collection: string | null
  readonly stages: readonly Uint8Array[]
}

/** For a stage that outputs documents of its own instead of those of a collection. */
export interface StageSource {
  /**
   * `required`: `{aggregate: 'name'}`; `none`: `{aggregate: 1}`; `any`: either.
   */
  readonly collection: 'required' | 'none' | 'any'
}

export interface StageOperator extends OperatorRow {
  /** A source compiles to a pass-through stage: the caller of the pipeline pushes its documents. */
  compile(argument: RawValue, context: StageContext): CompiledStage
  /** Replaces this stage by others ($count, $sortByCount). */
  readonly rewrite?: (argument: RawValue, context: Pick<EvaluationContext, 'strings'>) => Uint8Array[]
  /** Allowed in the pipeline of an update. */
  readonly inUpdates?: boolean
  /**
   * On a sharded collection: `shards` runs on each shard; any other value ends the shards' part:
   * the pipeline is split here or earlier.
   */
  readonly sharded: 'shards' | 'sort' | 'group' | 'limit' | 'skip' | 'merger'
  /**
   * Whether it writes to the disk if that is allowed. Absent: never. Server:
   * `DiskUseRequirement::kWritesTmpData`.
   */
  readonly spills?: (argument: RawValue) => boolean
  /** Absent: anywhere. */
  readonly position?: 'first' | 'last'
  readonly notIn?: readonly PipelineKind[]
  /** Only as the last stage of a change stream. */
  readonly inStreams?: boolean
  /** Such a stage is `position: 'first'`. */
  readonly source?: StageSource
  /**
   * The stage writes its input to a collection. It is `position: 'last'` and compiles to a
   * pass-through stage.
   */
  readonly writes?: boolean
  /** Call it after `compile`, which checks the argument. */
  readonly foreign?: (argument: RawValue) => readonly ForeignCollection[]
  /** Pipelines in its argument that run on its own input. */
  readonly nested?: (argument: RawValue) => readonly (readonly Uint8Array[])[]
}

/** Null: no output for this document. */
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

/** For sources and writers, which work outside the pipeline. */
export function passThroughStage(name: string): CompiledStage {
  return { name, open: (next) => next }
}
