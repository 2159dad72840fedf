/**
 * Welford's algorithm, merged by Chan's. Only numbers count; decimals become doubles, as on the
 * server.
 */
import { DocumentWriter, documentValue, doubleValue, findField, nullValue, type RawValue } from '@shardlab/bson'
import { toNumber } from '../../values/arithmetic.js'
import { oneExpression, type Accumulator, type AccumulatorOperator } from './accumulator.js'

function deviation(isSample: boolean): () => Accumulator {
  return () => {
    let count = 0
    let mean = 0
    let squares = 0
    return {
      add(value) {
        if (!value?.isNumber()) return
        const number = toNumber(value)
        const delta = number - mean
        count++
        mean += delta / count
        squares += delta * (number - mean)
      },
      merge(partial) {
        const part = (name: string) => findField(partial.bytes, name, partial.start)!.asNumber()
        const [otherSquares, otherMean, otherCount] = [part('m2'), part('mean'), part('count')]
        if (otherCount === 0) return
        const delta = otherMean - mean
        const total = count + otherCount
        // A weighted mean keeps a merge into an empty state exact.
        mean = count === 0 ? otherMean : (count * mean + otherCount * otherMean) / total
        squares += otherSquares + delta * delta * ((count * otherCount) / total)
        count = total
      },
      partial: () =>
        documentValue(new DocumentWriter().double('m2', squares).double('mean', mean).int64('count', count).finish()),
      result(): RawValue {
        const by = isSample ? count - 1 : count
        return by <= 0 ? nullValue : doubleValue(Math.sqrt(squares / by))
      },
    }
  }
}

function row(name: string, isSample: boolean): AccumulatorOperator {
  return {
    name,
    manualPage: `aggregation/${name.slice(1)}`,
    status: 'complete',
    create: deviation(isSample),
    evaluatedOf: oneExpression(name),
  }
}

export const deviationAccumulators: readonly AccumulatorOperator[] = [
  row('$stdDevPop', false),
  row('$stdDevSamp', true),
]
