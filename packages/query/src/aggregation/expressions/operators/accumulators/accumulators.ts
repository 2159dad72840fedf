/** Accumulators as expressions: over one array, or over the operands. */
import { BsonType, elementsOf } from '@shardlab/bson'
import { accumulatorOperators } from '../../../accumulators/table.js'
import { ValueList } from '../../../../values/value-store.js'
import { operandsOf } from '../../arguments.js'
import { computed, type ExpressionOperator } from '../../expression.js'

function accumulated(name: string): ExpressionOperator {
  return {
    name,
    manualPage: `aggregation/${name.slice(1)}`,
    status: 'complete',
    compile(argument, compiler) {
      const operands = operandsOf(argument, compiler)
      const operator = accumulatorOperators.get(name)!
      return computed(operands, (frame) => {
        const accumulator = operator.create(new ValueList(), compiler.context.strings)
        const values = operands.map((operand) => operand.evaluate(frame))
        const only = values.length === 1 ? values[0] : undefined
        for (const value of only?.type === BsonType.array ? elementsOf(only) : values) accumulator.add(value)
        return accumulator.result()
      })
    },
  }
}

export const accumulatorExpressions: readonly ExpressionOperator[] = [
  '$sum',
  '$avg',
  '$min',
  '$max',
  '$stdDevPop',
  '$stdDevSamp',
].map(accumulated)
