/** What pipeline stages are made of. */
import type { RawValue } from '@shardlab/bson'
import type { EvaluationContext, OperatorRow } from '../../context.js'
import type { JoinRequests } from './joins/join-run.js'
import type { StageRun } from './stage-run.js'

export interface CompiledStage {
  readonly name: string
  /** @param requests where a stage that reads other collections leaves what it wants to read */
  open(next: StageRun, requests: JoinRequests): StageRun
}

/** A pipeline inside a stage's argument. */
export type PipelineKind = 'facet' | 'lookup' | 'unionWith' | 'merge'

export interface StageContext {
  readonly evaluation: EvaluationContext
  /** Bytes that a blocking stage may hold; beyond: QueryExceededMemoryLimitNoDiskUseAllowed (292). */
  readonly memoryLimitBytes: number
  /** Name of the database that the pipeline runs in; '' when it is not known and no stage needs it. */
  readonly db: string
  /** It begins the pipeline as it stands. */
  readonly isFirst: boolean
  /** The stage right after this one, for stages that take it into account. */
  readonly following: { readonly name: string; readonly argument: RawValue } | null
  /**
   * Compiles a pipeline inside this stage's argument.
   * @param variables what its expressions see; default: what this stage's see
   * @throws CommandError for stages that may not stand there: 40600, 51047, 31441, 72 InvalidOptions
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

/** Another collection that a stage reads, with what it does there. */
export interface ForeignCollection {
  /** Name of the stage that reads it. */
  readonly stage: string
  /** Null: the database of the pipeline. */
  readonly db: string | null
  /** Null: the stages begin with a source of their own. */
  readonly collection: string | null
  readonly stages: readonly Uint8Array[]
}

/** A stage that gives documents of its own instead of those of a collection. */
export interface StageSource {
  /**
   * `required`: `{aggregate: 'name'}`; `none`: `{aggregate: 1}`; `any`: either.
   */
  readonly collection: 'required' | 'none' | 'any'
}

export interface StageOperator extends OperatorRow {
  /** A source compiles to a stage that lets everything through: whoever runs the pipeline pushes the source's documents. */
  compile(argument: RawValue, context: StageContext): CompiledStage
  /** Other stages that this one stands for ($count, $sortByCount). */
  readonly rewrite?: (argument: RawValue, context: Pick<EvaluationContext, 'strings'>) => Uint8Array[]
  /** May stand in the pipeline of an update. */
  readonly inUpdates?: boolean
  /**
   * How it runs on a sharded collection: `shards` = on each shard alone; else it splits the pipeline, at the latest here.
   */
  readonly sharded: 'shards' | 'sort' | 'group' | 'limit' | 'skip' | 'merger'
  /** May it write what it holds to the disk, where that is allowed? Server: `DiskUseRequirement::kWritesTmpData`. Absent = it never does. */
  readonly spills?: (argument: RawValue) => boolean
  /** Where it must stand; absent = anywhere. */
  readonly position?: 'first' | 'last'
  /** Pipelines inside other stages that it may not stand in. */
  readonly notIn?: readonly PipelineKind[]
  /** It gives documents of its own; such a stage is `position: 'first'`. */
  readonly source?: StageSource
  /** It writes its input away; such a stage is `position: 'last'` and compiles to one that lets everything through. */
  readonly writes?: boolean
  /** Collections that it reads. Called after `compile`, which has checked the argument. */
  readonly foreign?: (argument: RawValue) => readonly ForeignCollection[]
  /** Pipelines in its argument that run on its own input. */
  readonly nested?: (argument: RawValue) => readonly (readonly Uint8Array[])[]
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

/** A stage that leaves all as it is: sources and writers, whose work is done outside the pipeline. */
export function passThroughStage(name: string): CompiledStage {
  return { name, open: (next) => next }
}
