/** Pipelines: compiled once, run by pushing documents through. */
import { CommandError, FieldIterator, type RawValue } from '@shardlab/bson'
import { findOperator, type EvaluationContext } from '../context.js'
import { checkPipeline, type PipelineTarget } from './check-pipeline.js'
import { JoinBoard, type ForeignBatch, type JoinRequest } from './joins.js'
import { leadingQuery, type LeadingQuery } from './leading-query.js'
import { optimize } from './optimize.js'
import type {
  CompiledStage,
  ForeignCollection,
  InnerPipeline,
  PipelineKind,
  StageContext,
  StageOperator,
  StageRun,
} from './stages/stage.js'
import { stageOperators } from './stages/table.js'

export interface PipelineOptions {
  /** Bytes that one blocking stage may hold; default 100 MiB. `Infinity` stands for allowDiskUse. */
  readonly memoryLimitBytes?: number
  /** The database it runs in: joins read there. Default ''. */
  readonly db?: string
  /** What the command names; stages with a source of their own may or may not take a collection. Absent: not checked. */
  readonly target?: PipelineTarget
}

export interface PipelineRun {
  /** A document from the source; ignored once satisfied. */
  push(document: Uint8Array): void
  /** The source has no more. */
  end(): void
  /** Results so far; the consumer takes from here. */
  readonly output: Uint8Array[]
  /** More input cannot change the result. */
  readonly satisfied: boolean
  /** What a join wants read before it can go on; null: nothing. Served before anything else is pushed, and after `end`. */
  readonly request: JoinRequest | null
  /** Answers {@link request}. */
  serve(batch: ForeignBatch): void
}

/** A stage whose work is done outside the pipeline, with its argument. */
export interface OuterStage {
  readonly name: string
  readonly argument: RawValue
}

export interface Pipeline {
  /** The stages as they are run: shorthands replaced, in the order that optimizing gave. */
  readonly stages: readonly Uint8Array[]
  /** The first stage when it has a source of its own; its documents are what is to be pushed. */
  readonly source: OuterStage | null
  /** The last stage when it is $out or $merge: the results are to be written by it. */
  readonly writer: OuterStage | null
  /** What the first stages ask of the collection: a plan can do it. */
  readonly leading: LeadingQuery
  /** `leading.filter`, for targeting; null when there is none. */
  readonly leadingFilter: Uint8Array | null
  /** The collections that it reads beside its own, those of pipelines inside it too. */
  readonly foreign: readonly ForeignCollection[]
  /**
   * Over all documents of the collection.
   * @param emitted gets, and keeps up to date, how many documents each stage has handed on; its numbers begin at 0
   */
  open(emitted?: number[]): PipelineRun
  /** Over the documents that {@link leading} asks for, in their order. `emitted`: as of `open`, for the stages after the leading ones. */
  openAfterLeading(emitted?: number[]): PipelineRun
}

/** The stage by which members hand each other cursors to merge: whoever gets it takes it off before the pipeline is compiled. */
export const mergeCursorsStage = '$mergeCursors'

const defaultMemoryLimitBytes = 100 * 1024 * 1024

/**
 * @throws CommandError 40323 for a stage without exactly one field, 40324 for an unknown one, 40602 and 40601 for one in the wrong
 *   place, 73 InvalidNamespace where `target` does not fit, and what stages throw
 */
export function compilePipeline(
  stages: readonly Uint8Array[],
  context: EvaluationContext,
  options: PipelineOptions = {},
): Pipeline {
  const { memoryLimitBytes = defaultMemoryLimitBytes, db = '' } = options
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
    return { open: (next, board) => openStages(compiled, next, board) }
  }

  const written = expandStages(stages, context)
  const steps = optimize(written)
  // Errors are those of the pipeline as it was written.
  let compiled = compileAll(written, context)
  if (steps !== written) compiled = compileAll(steps, context)
  checkPipeline(written, options.target ?? 'unchecked')
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

/** The stage, asking before each document whether to go on. */
function interruptible(stage: CompiledStage, { checkForInterrupt }: EvaluationContext): CompiledStage {
  if (checkForInterrupt === undefined) return stage
  return {
    name: stage.name,
    open(next, board) {
      const run = stage.open(next, board)
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

function openStages(compiled: readonly CompiledStage[], sink: StageRun, board: JoinBoard): StageRun {
  return compiled.reduceRight((next, stage) => stage.open(next, board), sink)
}

/** Counts what a stage hands on. */
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
  const board = new JoinBoard()
  const sink: StageRun = { push: (document) => output.push(document), end: () => {}, satisfied: false }
  emitted?.splice(0, emitted.length, ...compiled.map(() => 0))
  const first =
    emitted === undefined
      ? openStages(compiled, sink, board)
      : compiled.reduceRight<StageRun>((next, stage, i) => stage.open(counted(next, emitted, i), board), sink)
  return {
    output,
    push(document) {
      if (!first.satisfied) first.push(document)
    },
    end: () => first.end(),
    get satisfied() {
      return first.satisfied
    },
    get request() {
      return board.request
    },
    serve: (batch) => board.serve(batch),
  }
}

export interface PipelineStep {
  readonly operator: StageOperator
  readonly argument: RawValue
  readonly stage: Uint8Array
}

/** What decides which stages there are, and what their shorthands stand for. */
type LanguageContext = Pick<EvaluationContext, 'languageVersion' | 'strict' | 'strings'>

/** Looks every stage up and replaces shorthands by what they stand for. @throws CommandError 40323, 40324 */
export function expandStages(stages: readonly Uint8Array[], context: LanguageContext = {}): PipelineStep[] {
  return stages.flatMap((stage) => {
    const step = stepOf(stage, context)
    return step.operator.rewrite === undefined
      ? [step]
      : step.operator.rewrite(step.argument, context).map((each) => stepOf(each, context))
  })
}

function stepOf(stage: Uint8Array, context: LanguageContext): PipelineStep {
  const it = new FieldIterator(stage)
  if (!it.next()) throw new CommandError(40323, 'A pipeline stage specification object must contain exactly one field.')
  const name = it.name()
  const argument = it.value()
  if (it.next()) throw new CommandError(40323, 'A pipeline stage specification object must contain exactly one field.')
  const operator = findOperator(stageOperators, name, context)
  if (name === mergeCursorsStage && (context.languageVersion ?? Infinity) >= 5) {
    // The server's message lacks the first quote, too.
    throw new CommandError(5491300, `${name}' is not allowed in user requests`)
  }
  if (operator === undefined) throw new CommandError(40324, `Unrecognized pipeline stage name: '${name}'`)
  return { operator, argument, stage }
}

/** The collections that stages read, those of the pipelines inside them too, in the order in which they are written. */
function foreignCollections(steps: readonly PipelineStep[], context: EvaluationContext): ForeignCollection[] {
  const inner = (stages: readonly Uint8Array[]) => foreignCollections(expandStages(stages, context), context)
  return steps.flatMap(({ operator, argument }) => [
    ...(operator.foreign?.(argument) ?? []).flatMap((foreign) => [
      ...(foreign.collection === null ? [] : [foreign]),
      ...inner(foreign.stages),
    ]),
    ...(operator.nested?.(argument) ?? []).flatMap(inner),
  ])
}

/** Does this stage, or a pipeline inside it, read other collections or have a source of its own inside? */
export function isJoin({ operator, argument }: PipelineStep): boolean {
  if (operator.foreign !== undefined) return true
  return operator.nested?.(argument).some((stages) => expandStages(stages).some(isJoin)) ?? false
}
