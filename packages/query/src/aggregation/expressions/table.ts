/** The expression operators: every one that is understood has its row here. */
import type { ExpressionOperator } from './expression.js'
import { accumulatedExpressions } from './operators/accumulated.js'
import { arithmeticExpressions } from './operators/arithmetic.js'
import { arrayExpressions } from './operators/array.js'
import { moreArrayExpressions } from './operators/array-more.js'
import { arrayOrderExpressions } from './operators/array-order.js'
import { bitExpressions } from './operators/bits.js'
import { booleanExpressions } from './operators/boolean.js'
import { comparisonExpressions } from './operators/comparison.js'
import { conversionExpressions } from './operators/convert.js'
import { dateArithmeticExpressions } from './operators/date-arithmetic.js'
import { dateExpressions } from './operators/date.js'
import { fieldExpressions } from './operators/field.js'
import { numberExpressions } from './operators/number.js'
import { otherExpressions } from './operators/other.js'
import { quantileExpressions } from './operators/quantile.js'
import { refusedExpressions } from './operators/refused.js'
import { regexExpressions } from './operators/regex.js'
import { setExpressions } from './operators/set.js'
import { stringExpressions } from './operators/string.js'
import { textExpressions } from './operators/text.js'

export const expressionOperators: ReadonlyMap<string, ExpressionOperator> = new Map(
  [
    ...comparisonExpressions,
    ...booleanExpressions,
    ...arithmeticExpressions,
    ...numberExpressions,
    ...bitExpressions,
    ...stringExpressions,
    ...textExpressions,
    ...regexExpressions,
    ...arrayExpressions,
    ...moreArrayExpressions,
    ...arrayOrderExpressions,
    ...setExpressions,
    ...fieldExpressions,
    ...conversionExpressions,
    ...dateExpressions,
    ...dateArithmeticExpressions,
    ...accumulatedExpressions,
    ...quantileExpressions,
    ...otherExpressions,
    ...refusedExpressions,
  ].map((row) => [row.name, row]),
)
