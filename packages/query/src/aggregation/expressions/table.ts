import type { ExpressionOperator } from './expression.js'
import { accumulatorExpressions } from './operators/accumulators/accumulators.js'
import { arithmeticExpressions } from './operators/numbers/arithmetic.js'
import { arrayExpressions } from './operators/arrays/array.js'
import { sequenceExpressions } from './operators/arrays/sequences.js'
import { arrayOrderExpressions } from './operators/arrays/order.js'
import { bitExpressions } from './operators/numbers/bits.js'
import { booleanExpressions } from './operators/logic/boolean.js'
import { comparisonExpressions } from './operators/logic/comparison.js'
import { conversionExpressions } from './operators/conversions/convert.js'
import { dateArithmeticExpressions } from './operators/dates/arithmetic.js'
import { datePartExpressions } from './operators/dates/parts.js'
import { fieldExpressions } from './operators/documents/fields.js'
import { objectExpressions } from './operators/documents/objects.js'
import { numberExpressions } from './operators/numbers/functions.js'
import { otherExpressions } from './operators/other.js'
import { quantileExpressions } from './operators/accumulators/quantiles.js'
import { unavailableExpressions } from './operators/unavailable.js'
import { regexExpressions } from './operators/strings/regex.js'
import { setExpressions } from './operators/arrays/sets.js'
import { stringExpressions } from './operators/strings/string.js'
import { substringExpressions } from './operators/strings/substrings.js'

export const expressionOperators: ReadonlyMap<string, ExpressionOperator> = new Map(
  [
    ...comparisonExpressions,
    ...booleanExpressions,
    ...arithmeticExpressions,
    ...numberExpressions,
    ...bitExpressions,
    ...stringExpressions,
    ...substringExpressions,
    ...regexExpressions,
    ...arrayExpressions,
    ...sequenceExpressions,
    ...arrayOrderExpressions,
    ...setExpressions,
    ...fieldExpressions,
    ...objectExpressions,
    ...conversionExpressions,
    ...datePartExpressions,
    ...dateArithmeticExpressions,
    ...accumulatorExpressions,
    ...quantileExpressions,
    ...otherExpressions,
    ...unavailableExpressions,
  ].map((row) => [row.name, row]),
)
