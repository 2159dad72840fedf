/**
 * $median and $percentile over one array, or one number. Server:
 * `expression_from_accumulator_quantile.h`.
 */
import { BsonType, CommandError, elementsOf } from '@shardlab/bson'
import { toNumber } from '../../../../values/arithmetic.js'
import { formatValue } from '../../../../values/format.js'
import { percentileArgument, percentilesOf, fractionsOf } from '../../../accumulators/percentile.js'
import { computed, type ExpressionOperator } from '../../expression.js'

function quantile(name: string, notObject: number): ExpressionOperator {
  return {
    name,
    manualPage: `aggregation/${name.slice(1)}`,
    status: 'complete',
    compile(argument, compiler) {
      const { input, p } = percentileArgument(name, argument, notObject)
      const shares = p === null ? null : compiler.compile(p)
      if (shares !== null && shares.constant === null)
        throw new CommandError(
          7750300,
          `The $percentile 'p' field must be an array of constant values, but found value: ${formatValue(p!)}.`,
        )
      const wanted = shares === null ? null : fractionsOf(shares.constant!.value, p!)
      const expression = compiler.compile(input)
      return computed([expression], (frame) => {
        const value = expression.evaluate(frame)
        if (value?.isNumber() === true) return percentilesOf([toNumber(value)], wanted)
        const elements = value?.type === BsonType.array ? elementsOf(value) : []
        return percentilesOf(elements.filter((element) => element.isNumber()).map(toNumber), wanted)
      })
    },
  }
}

export const quantileExpressions: readonly ExpressionOperator[] = [
  quantile('$median', 7436201),
  quantile('$percentile', 7436200),
]
