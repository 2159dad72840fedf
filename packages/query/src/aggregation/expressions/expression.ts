/** What expressions are made of. */
import type { RawValue } from '@shardlab/bson'
import type { EvaluationContext, OperatorRow } from '../../context.js'

/** Where an expression is evaluated: the document, and the values of variables by slot. */
export interface Frame {
  readonly root: Uint8Array
  /** `$$CURRENT`, $let, $map, $filter, $reduce: each has a slot. */
  readonly slots: (RawValue | undefined)[]
}

/** A compiled expression; `undefined` is a missing value. */
export interface Expression {
  evaluate(frame: Frame): RawValue | undefined
  /** The value when it does not depend on the document; null when it does. */
  readonly constant: { readonly value: RawValue | undefined } | null
}

/** What an operator may call back while it is compiled. */
export interface ExpressionCompiler {
  readonly context: EvaluationContext
  compile(value: RawValue): Expression
  /** Compiles with further variables in scope; gives the slot of each. */
  withVariables(names: readonly string[]): { readonly compiler: ExpressionCompiler; readonly slots: readonly number[] }
}

export interface ExpressionOperator extends OperatorRow {
  compile(argument: RawValue, compiler: ExpressionCompiler): Expression
}

/** An expression that computes; folded when all its operands are constants. */
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
