/** Values of all types compare in canonical order; a missing value is below null. */
import { boolValue, compareValues, int32Value, type RawValue } from '@shardlab/bson'
import type { ExpressionOperator } from '../../expression.js'
import { operandsOf, operator } from '../../arguments.js'
import { computed } from '../../expression.js'

function comparison(name: string, of: (order: number) => RawValue): ExpressionOperator {
  const checked = operator(name, 2, 2, () => undefined)
  return {
    ...checked,
    compile(argument, compiler) {
      const operands = operandsOf(argument, compiler)
      const [left, right] = operands
      // The plain operator throws the error about the number of operands.
      if (operands.length !== 2 || left === undefined || right === undefined) return checked.compile(argument, compiler)
      const { strings } = compiler.context
      return computed(operands, (frame) => of(compareValues(left.evaluate(frame), right.evaluate(frame), strings)))
    },
  }
}

export const comparisonExpressions: readonly ExpressionOperator[] = [
  comparison('$eq', (order) => boolValue(order === 0)),
  comparison('$ne', (order) => boolValue(order !== 0)),
  comparison('$gt', (order) => boolValue(order > 0)),
  comparison('$gte', (order) => boolValue(order >= 0)),
  comparison('$lt', (order) => boolValue(order < 0)),
  comparison('$lte', (order) => boolValue(order <= 0)),
  comparison('$cmp', (order) => int32Value(order)),
]
