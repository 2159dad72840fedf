/** Pipelines: compiled once, run by pushing documents through. */
import { BsonType, CommandError, DocumentWriter, FieldIterator, findField, firstFieldName, type RawValue } from '@shardlab/bson'
import type { EvaluationContext } from '../context.js'
import { compileSort, countArgument } from './stages/order.js'
import type { CompiledStage, StageContext, StageOperator, StageRun } from './stages/stage.js'
import { stageOperators } from './stages/table.js'

export interface PipelineOptions {
  /** Bytes that one blocking stage may hold; default 100 MiB. `Infinity` stands for allowDiskUse. */
  readonly memoryLimitBytes?: number
  /** The caller gives only documents that pass `leadingFilter`: leading $match stages are left out of the run. Default false. */
  readonly leadingFilterApplied?: boolean
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
}

export interface Pipeline {
  /** The leading $match stages as one filter, for planning and targeting; null when there is none. */
  readonly leadingFilter: Uint8Array | null
  open(): PipelineRun
}

const defaultMemoryLimitBytes = 100 * 1024 * 1024

/**
 * @throws CommandError 40323 for a stage without exactly one field, 40324 for an unknown one, and what stages throw
 */
export function compilePipeline(stages: readonly Uint8Array[], context: EvaluationContext, options: PipelineOptions = {}): Pipeline {
  const memoryLimitBytes = options.memoryLimitBytes ?? defaultMemoryLimitBytes
  const stageContext: StageContext = {
    evaluation: context,
    memoryLimitBytes,
    compilePipeline: (inner) => compilePipeline(inner, context, { memoryLimitBytes }),
  }
  const leading = leadingMatches(stages)
  const steps = expandStages(options.leadingFilterApplied ? stages.slice(leading.length) : stages)
  if (options.leadingFilterApplied) compileAll(expandStages(stages.slice(0, leading.length)), stageContext)
  const compiled = compileAll(steps, stageContext)
  return {
    leadingFilter: leadingFilter(leading),
    open() {
      const output: Uint8Array[] = []
      const sink: StageRun = { push: (document) => output.push(document), end: () => {}, satisfied: false }
      const first = compiled.reduceRight((next, stage) => stage.open(next), sink)
      return {
        output,
        push(document) {
          if (!first.satisfied) first.push(document)
        },
        end: () => first.end(),
        get satisfied() {
          return first.satisfied
        },
      }
    },
  }
}

export interface PipelineStep {
  readonly operator: StageOperator
  readonly argument: RawValue
  readonly stage: Uint8Array
}

/** Looks every stage up and replaces shorthands by what they stand for. */
export function expandStages(stages: readonly Uint8Array[]): PipelineStep[] {
  return stages.flatMap((stage) => {
    const step = stepOf(stage)
    return step.operator.rewrite === undefined ? [step] : step.operator.rewrite(step.argument).map(stepOf)
  })
}

function stepOf(stage: Uint8Array): PipelineStep {
  const it = new FieldIterator(stage)
  if (!it.next()) throw new CommandError(40323, 'A pipeline stage specification object must contain exactly one field.')
  const name = it.name()
  const argument = it.value()
  if (it.next()) throw new CommandError(40323, 'A pipeline stage specification object must contain exactly one field.')
  const operator = stageOperators.get(name)
  if (operator === undefined) throw new CommandError(40324, `Unrecognized pipeline stage name: '${name}'`)
  return { operator, argument, stage }
}

function compileAll(steps: readonly PipelineStep[], context: StageContext): CompiledStage[] {
  return steps.map(({ operator, argument }, index) => {
    const following = steps[index + 1]
    // A limit right after a sort bounds what the sort must hold.
    if (operator.name === '$sort' && following?.operator.name === '$limit')
      return compileSort(argument, context, countArgument('$limit', following.argument))
    return operator.compile(argument, context)
  })
}

function leadingMatches(stages: readonly Uint8Array[]): RawValue[] {
  const filters: RawValue[] = []
  for (const stage of stages) {
    const filter = firstFieldName(stage) === '$match' ? findField(stage, '$match') : undefined
    if (filter?.type !== BsonType.object) break
    filters.push(filter)
  }
  return filters
}

function leadingFilter(filters: readonly RawValue[]): Uint8Array | null {
  if (filters.length <= 1) return filters[0]?.slice() ?? null
  return new DocumentWriter()
    .documents(
      '$and',
      filters.map((filter) => filter.slice()),
    )
    .finish()
}

/** Name of the first stage, for stages with a data source of their own; undefined for an empty pipeline. */
export function firstStageName(stages: readonly Uint8Array[]): string | undefined {
  return stages[0] === undefined ? undefined : firstFieldName(stages[0])
}
