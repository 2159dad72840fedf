import {
  CommandError,
  decode,
  DocumentWriter,
  encode,
  toExtendedJson,
  toRawValue,
  type Document,
  type RawValue,
} from '@shardlab/bson'
import {
  compileExpression,
  compileFilter,
  compilePipeline,
  compileProjection,
  compileUpdate,
  type EvaluationContext,
} from '../../src/index.js'

export const context: EvaluationContext = { now: () => 1_700_000_000_000, random: () => 0.5 }

export function matches(filter: Document, document: Document, over: EvaluationContext = context): boolean {
  return compileFilter(encode(filter), over).matches(encode(document))
}

export function project(projection: Document, document: Document): Document {
  return decode(compileProjection(encode(projection), context).apply(encode(document)))
}

/** Canonical Extended JSON, which shows types and order; null: nothing changes. */
export function update(
  specification: Document,
  document: Document,
  options: { arrayFilters?: Document[]; filter?: Document; isInsert?: boolean } = {},
): string | null {
  const compiled = compileUpdate(
    Array.isArray(specification)
      ? { pipeline: specification.map((stage) => encode(stage as Document)) }
      : { document: encode(specification) },
    options.arrayFilters === undefined ? {} : { arrayFilters: options.arrayFilters.map(encode) },
    context,
  )
  const result = compiled.apply(encode(document), {
    ...(options.isInsert === undefined ? {} : { isInsert: options.isInsert }),
    ...(options.filter === undefined ? {} : { filter: compileFilter(encode(options.filter), context) }),
  })
  return result === null ? null : toExtendedJson(result)
}

export function json(document: Document): string {
  return toExtendedJson(encode(document))
}

export function aggregate(
  stages: Document[],
  documents: Document[],
  over: Partial<EvaluationContext> = {},
): Document[] {
  return run(
    stages.map((stage) => encode(stage)),
    documents.map(encode),
    { ...context, ...over },
  ).map((document) => decode(document))
}

export function run(
  stages: readonly Uint8Array[],
  documents: readonly Uint8Array[],
  over: EvaluationContext = context,
): Uint8Array[] {
  const pipeline = compilePipeline(stages, over).open()
  for (const document of documents) pipeline.push(document)
  pipeline.end()
  while (pipeline.step() > 0) continue
  return pipeline.output
}

/** `{v: …}` in Extended JSON; `{}` for a missing value. */
export function evaluate(expression: unknown, document: Document = {}): string {
  const value = compileExpression(toRawValue(expression), context).evaluateOn(encode(document))
  return value === undefined ? '{}' : toExtendedJson(compileWrap(value))
}

function compileWrap(value: RawValue): Uint8Array {
  return new DocumentWriter().value('v', value).finish()
}

/** 0: no error. */
export function codeOf(action: () => unknown): number {
  return failure(action)?.code ?? 0
}

export function failure(action: () => unknown): CommandError | null {
  try {
    action()
  } catch (error) {
    if (error instanceof CommandError) return error
    throw error
  }
  return null
}
