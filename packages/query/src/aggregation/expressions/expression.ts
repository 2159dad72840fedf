import { CommandError, type RawValue } from '@shardlab/bson'
import type { EvaluationContext, OperatorRow } from '../../context.js'

export interface Frame {
  readonly root: Uint8Array
  /** One slot for each variable of `$$CURRENT`, $let, $map, $filter and $reduce. */
  readonly slots: (RawValue | undefined)[]
}

/** Evaluates to `undefined` for a missing value. */
export interface Expression {
  evaluate(frame: Frame): RawValue | undefined
  /** Null: the value depends on the document. */
  readonly constant: { readonly value: RawValue | undefined } | null
  /** All operands are constants, and the evaluation fails. */
  readonly foldError?: CommandError
}

export interface ExpressionCompiler {
  readonly context: EvaluationContext
  compile(value: RawValue): Expression
  withVariables(names: readonly string[]): { readonly compiler: ExpressionCompiler; readonly slots: readonly number[] }
}

export interface ExpressionOperator extends OperatorRow {
  compile(argument: RawValue, compiler: ExpressionCompiler): Expression
}

/** Folded into a constant when all operands are constants. */
export function computed(
  operands: readonly Expression[],
  evaluate: (frame: Frame) => RawValue | undefined,
  pure = true,
): Expression {
  if (!pure || !operands.every((operand) => operand.constant !== null)) return { evaluate, constant: null }
  try {
    return constant(evaluate(emptyFrame))
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    return { evaluate, constant: null, foldError: error }
  }
}

export function constant(value: RawValue | undefined): Expression {
  return { evaluate: () => value, constant: { value } }
}

const emptyFrame: Frame = { root: new Uint8Array([5, 0, 0, 0, 0]), slots: [] }
