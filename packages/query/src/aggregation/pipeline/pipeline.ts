import { CommandError, type RawValue } from '@shardlab/bson'
import type { EvaluationContext } from '../../context.js'
import { checkPipeline, type PipelineTarget } from './check.js'
import type { ForeignBatch, JoinRequest } from '../stages/joins/join-request.js'
import { leadingQuery, type LeadingQuery } from './leading-query.js'
import { optimize } from './optimize.js'
import type { CompiledStage, ForeignCollection, InnerPipeline, PipelineKind, StageContext } from '../stages/stage.js'
import type { StageRun } from '../stages/stage-run.js'
import { StageWork } from '../stages/stage-work.js'
import { expandStages, foreignCollections, type PipelineStep } from './steps.js'

export interface PipelineOptions {
  /** For one blocking stage; default 100 MiB. `Infinity`: allowDiskUse. */
  readonly memoryLimitBytes?: number
  /** The database in which joins read. Default ''. */
  readonly db?: string
  /** Checked against the source of the pipeline. Absent: not checked. */
  readonly target?: PipelineTarget
}

export interface PipelineRun {
  /** Ignored once satisfied. */
  push(document: Uint8Array): void
  end(): void
  /** The consumer removes the results. */
  readonly output: Uint8Array[]
  /** More input cannot change the result. */
  readonly satisfied: boolean
  /** Whether a {@link request} or a {@link step} is pending. */
  readonly hasWork: boolean
  /**
   * The read that a join waits for; null: none. Serve it before the next `push`, and again after
   * `end`.
   */
  readonly request: JoinRequest | null
  serve(batch: ForeignBatch): void
  /**
   * Emits results of stages that held their input. Call it until it returns 0, with the request
   * served in between, before the next `push` and after `end`.
   * @returns number of documents
   */
  step(): number
}

/** A stage that runs outside the pipeline. */
export interface OuterStage {
  readonly name: string
  readonly argument: RawValue
}

export interface Pipeline {
  /** After optimization, with shorthands replaced. */
  readonly stages: readonly Uint8Array[]
  /** A first stage with documents of its own: the caller pushes them. */
  readonly source: OuterStage | null
  /** $out or $merge as last stage: the caller writes the results. */
  readonly writer: OuterStage | null
  readonly leading: LeadingQuery
  /** `leading.filter`, for targeting; null: none. */
  readonly leadingFilter: Uint8Array | null
  /** Includes those of inner pipelines, but not the pipeline's own collection. */
  readonly foreign: readonly ForeignCollection[]
  /** @param emitted receives the number of documents that each stage has output so far */
  open(emitted?: number[]): PipelineRun
  /**
   * Takes the documents that {@link leading} selects, in their order.
   * @param emitted for the stages after the leading ones
   */
  openAfterLeading(emitted?: number[]): PipelineRun
}

const defaultMemoryLimitBytes = 100 * 1024 * 1024

/**
 * @throws CommandError 40323 for a stage without exactly one field, 40324 for an unknown one,
 *   40602 and 40601 for one in the wrong position, 73 InvalidNamespace for one that does not match
 *   `target`, and the errors of the stages
 */
export function compilePipeline(
  stages: readonly Uint8Array[],
  given: EvaluationContext,
  options: PipelineOptions = {},
): Pipeline {
  const { memoryLimitBytes = defaultMemoryLimitBytes, db = '' } = options
  const foldErrors: CommandError[] = []
  const context = given.onFoldError === undefined ? { ...given, onFoldError: foldErrors.push.bind(foldErrors) } : given
  const stageContext = (
    evaluation: EvaluationContext,
    isFirst: boolean,
    following: PipelineStep | undefined,
  ): StageContext => ({
    evaluation,
    isFirst,
    memoryLimitBytes,
    db,
    following: following === undefined ? null : { name: following.operator.name, argument: following.argument },
    compilePipeline: (kind, inner, variables) =>
      compileInner(kind, inner, variables === undefined ? evaluation : { ...evaluation, variables }),
  })
  const compileAll = (steps: readonly PipelineStep[], evaluation: EvaluationContext): CompiledStage[] =>
    steps.map(({ operator, argument }, index) =>
      interruptible(operator.compile(argument, stageContext(evaluation, index === 0, steps[index + 1])), evaluation),
    )
  const compileInner = (
    kind: PipelineKind,
    inner: readonly Uint8Array[],
    evaluation: EvaluationContext,
  ): InnerPipeline => {
    const steps = expandStages(inner, evaluation)
    checkPipeline(steps, kind)
    const compiled = compileAll(steps, evaluation)
    return { open: (next, rest) => openStages(compiled, next, rest) }
  }

  const written = expandStages(stages, context)
  const steps = optimize(written)
  // Compile the pipeline as written first, so that errors refer to it.
  let compiled = compileAll(written, context)
  checkPipeline(written, options.target ?? 'unchecked')
  const [foldError] = foldErrors
  if (foldError !== undefined)
    throw new CommandError(foldError.code, `Failed to optimize pipeline :: caused by :: ${foldError.message}`)
  if (steps !== written) compiled = compileAll(steps, context)
  const outer = (step: PipelineStep | undefined): OuterStage | null =>
    step === undefined ? null : { name: step.operator.name, argument: step.argument }
  const leading = leadingQuery(steps)
  return {
    stages: steps.map((step) => step.stage),
    source: outer(steps[0]?.operator.source === undefined ? undefined : steps[0]),
    writer: outer(steps.at(-1)?.operator.writes === true ? steps.at(-1) : undefined),
    leading,
    leadingFilter: leading.filter,
    foreign: foreignCollections(steps, context),
    open: (emitted) => openRun(compiled, emitted),
    openAfterLeading: (emitted) => openRun(compiled.slice(leading.stageCount), emitted),
  }
}

function interruptible(stage: CompiledStage, { checkForInterrupt }: EvaluationContext): CompiledStage {
  if (checkForInterrupt === undefined) return stage
  return {
    name: stage.name,
    open(next, rest) {
      const run = stage.open(next, rest)
      return {
        push(document) {
          checkForInterrupt()
          run.push(document)
        },
        end: () => run.end(),
        get satisfied() {
          return run.satisfied
        },
      }
    },
  }
}

function openStages(compiled: readonly CompiledStage[], sink: StageRun, rest: StageWork): StageRun {
  return compiled.reduceRight((next, stage) => stage.open(next, rest), sink)
}

function counted(next: StageRun, emitted: number[], stage: number): StageRun {
  return {
    push(document) {
      emitted[stage]!++
      next.push(document)
    },
    end: () => next.end(),
    get satisfied() {
      return next.satisfied
    },
  }
}

function openRun(compiled: readonly CompiledStage[], emitted?: number[]): PipelineRun {
  const output: Uint8Array[] = []
  const rest = new StageWork()
  const sink: StageRun = { push: (document) => output.push(document), end: () => {}, satisfied: false }
  emitted?.splice(0, emitted.length, ...compiled.map(() => 0))
  const first =
    emitted === undefined
      ? openStages(compiled, sink, rest)
      : compiled.reduceRight<StageRun>((next, stage, i) => stage.open(counted(next, emitted, i), rest), sink)
  return new OpenRun(first, output, rest)
}

// A class, because a node calls it for each document.
class OpenRun implements PipelineRun {
  readonly output: Uint8Array[]
  readonly #first: StageRun
  readonly #rest: StageWork

  constructor(first: StageRun, output: Uint8Array[], rest: StageWork) {
    this.output = output
    this.#first = first
    this.#rest = rest
  }

  push(document: Uint8Array): void {
    if (!this.#first.satisfied) this.#first.push(document)
  }

  end(): void {
    this.#first.end()
  }

  get satisfied(): boolean {
    return this.#first.satisfied
  }

  get hasWork(): boolean {
    return !this.#rest.isEmpty
  }

  get request(): JoinRequest | null {
    return this.#rest.request
  }

  serve(batch: ForeignBatch): void {
    this.#rest.serve(batch)
  }

  step(): number {
    return this.#rest.step()
  }
}
