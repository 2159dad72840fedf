import { CommandError, FieldIterator, type RawValue } from '@shardlab/bson'
import { findOperator, type EvaluationContext } from '../../context.js'
import { newestLanguage, type Language } from '../../language/language.js'
import type { ForeignCollection, StageOperator } from '../stages/stage.js'
import { stageOperators } from '../stages/table.js'

/**
 * Contains the cursors that a member asks another one to merge. The recipient removes it before it
 * compiles the pipeline.
 */
export const mergeCursorsStage = '$mergeCursors'

export interface PipelineStep {
  readonly operator: StageOperator
  readonly argument: RawValue
  readonly stage: Uint8Array
}

type LanguageContext = Pick<EvaluationContext, 'language' | 'strict' | 'strings'>

/**
 * Replaces shorthands.
 * @throws CommandError 40323, 40324
 */
export function expandStages(stages: readonly Uint8Array[], context: LanguageContext = {}): PipelineStep[] {
  return stages.flatMap((stage) => {
    const step = stepOf(stage, context)
    return step.operator.rewrite === undefined
      ? [step]
      : step.operator.rewrite(step.argument, context).map((each) => stepOf(each, context))
  })
}

function stepOf(stage: Uint8Array, context: LanguageContext): PipelineStep {
  const { language = newestLanguage } = context
  const it = new FieldIterator(stage)
  if (!it.next()) throw notOneField(language)
  const name = it.name()
  const argument = it.value()
  if (it.next()) throw notOneField(language)
  const operator = findOperator('stage', stageOperators, name, context)
  if (name === mergeCursorsStage && language.mergeCursorsIsReserved) {
    // The server's message lacks the first quote, too.
    throw new CommandError(5491300, `${name}' is not allowed in user requests`)
  }
  if (operator === undefined)
    throw new CommandError(language.unknownStageCode, `Unrecognized pipeline stage name: '${name}'`)
  return { operator, argument, stage }
}

function notOneField({ stageFieldCountCode }: Language): CommandError {
  return new CommandError(stageFieldCountCode, 'A pipeline stage specification object must contain exactly one field.')
}

/** In the order in which they are written, including those of inner pipelines. */
export function foreignCollections(steps: readonly PipelineStep[], context: EvaluationContext): ForeignCollection[] {
  const inner = (stages: readonly Uint8Array[]) => foreignCollections(expandStages(stages, context), context)
  return steps.flatMap(({ operator, argument }) => [
    ...(operator.foreign?.(argument) ?? []).flatMap((foreign) => [
      ...(foreign.collection === null ? [] : [foreign]),
      ...inner(foreign.stages),
    ]),
    ...(operator.nested?.(argument) ?? []).flatMap(inner),
  ])
}

/**
 * Whether this stage or an inner pipeline reads other collections, or an inner pipeline has a
 * source of its own.
 */
export function isJoin({ operator, argument }: PipelineStep): boolean {
  if (operator.foreign !== undefined) return true
  return operator.nested?.(argument).some((stages) => expandStages(stages).some(isJoin)) ?? false
}
