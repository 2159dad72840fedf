/** The types of compiled expressions. */
import type { RawValue } from '@shardlab/bson'
import type { EvaluationContext, OperatorRow } from '../../context.js'

/** The input of an evaluation: the document, and the values of variables by slot. */
export interface Frame {
  readonly root: Uint8Array
  /** One slot for each variable of `$$CURRENT`, $let, $map, $filter and $reduce. */
  readonly slots: (RawValue | undefined)[]
}

/** A compiled expression. It evaluates to `undefined` for a missing value. */
export interface Expression {
  evaluate(frame: Frame): RawValue | undefined
  /** The value when it does not depend on the document; null when it does. */
  readonly constant: { readonly value: RawValue | undefined } | null
}

/** The parts of the compiler that operators call. */
export interface ExpressionCompiler {
  readonly context: EvaluationContext
  compile(value: RawValue): Expression
  /** Compiles with more variables in scope and returns the slot of each. */
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
  if (pure && operands.every((operand) => operand.constant !== null)) return constant(evaluate(emptyFrame))
  return { evaluate, constant: null }
}

export function constant(value: RawValue | undefined): Expression {
  return { evaluate: () => value, constant: { value } }
}

const emptyFrame: Frame = { root: new Uint8Array([5, 0, 0, 0, 0]), slots: [] }
