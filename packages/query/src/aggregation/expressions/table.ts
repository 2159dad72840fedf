/** The expression operators: every one that is understood has its row here. */
import type { ExpressionOperator } from './expression.js'
import { arithmeticExpressions } from './operators/arithmetic.js'
import { arrayExpressions } from './operators/array.js'
import { booleanExpressions } from './operators/boolean.js'
import { comparisonExpressions } from './operators/comparison.js'
import { otherExpressions } from './operators/other.js'
import { stringExpressions } from './operators/string.js'

export const expressionOperators: ReadonlyMap<string, ExpressionOperator> = new Map(
  [
    ...comparisonExpressions,
    ...booleanExpressions,
    ...arithmeticExpressions,
    ...stringExpressions,
    ...arrayExpressions,
    ...otherExpressions,
  ].map((row) => [row.name, row]),
)
