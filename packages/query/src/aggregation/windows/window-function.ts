/** Server: `db/pipeline/window_function`. */
import { CommandError, type RawValue } from '@shardlab/bson'
import type { EvaluationContext, OperatorRow } from '../../context.js'
import type { SortPattern } from '../../sort/sort-pattern.js'
import { compileExpression, type DocumentExpression } from '../expressions/compile.js'

export class Partition {
  readonly documents: readonly Uint8Array[]
  readonly #sortValues: DocumentExpression | null
  #values: readonly (RawValue | undefined)[] | null = null

  /** @param sortValue null unless the documents are sorted by exactly one field */
  constructor(documents: readonly Uint8Array[], sortValue: DocumentExpression | null) {
    this.documents = documents
    this.#sortValues = sortValue
  }

  get size(): number {
    return this.documents.length
  }

  /** Requires exactly one sort field. */
  get sortValues(): readonly (RawValue | undefined)[] {
    this.#values ??= this.documents.map((document) => this.#sortValues!.evaluateOn(document))
    return this.#values
  }

  evaluate(expression: DocumentExpression): (RawValue | undefined)[] {
    return this.documents.map((document) => expression.evaluateOn(document))
  }
}

/** One field of the output, for each document of the partition. */
export type ComputedField = (partition: Partition) => readonly (RawValue | undefined)[]

export interface WindowContext {
  readonly evaluation: EvaluationContext
  /** Null without `sortBy`. */
  readonly sort: SortPattern | null
}

/** `{$function: argument, window: …}` and any other fields. */
export interface WindowSpecification {
  readonly name: string
  readonly argument: RawValue
  readonly window: RawValue | null
  /** Field names besides the function and the window. */
  readonly others: readonly string[]
  /** One of `others` is the name of a function. */
  readonly hasSecondFunction: boolean
}

export interface WindowFunction extends OperatorRow {
  /** @throws CommandError FailedToParse (9) and the function's own codes */
  compile(specification: WindowSpecification, context: WindowContext): ComputedField
}

export const failedToParse = (message: string) => new CommandError('FailedToParse', message)

/** @throws CommandError FailedToParse (9) if `others` is not empty */
export function checkOthers(
  { others, hasSecondFunction }: WindowSpecification,
  unexpected: (field: string) => string,
): void {
  if (others.length === 0) return
  throw failedToParse(
    hasSecondFunction ? 'Cannot specify two functions in window function spec' : unexpected(others[0]!),
  )
}

export const unknownArgument = (field: string) => `Window function found an unknown argument: ${field}`

export function compileInput(input: RawValue, { evaluation }: WindowContext): DocumentExpression {
  return compileExpression(input, evaluation)
}
