/** Arithmetic and time zones against another implementation. */
import { Decimal128, encode, fromRawValue, toRawValue } from '@shardlab/bson'
import t from 'tap'
import { compileExpression } from '../../src/index.js'
import { decimalResults } from '../support/decimal-results.js'
import { context } from '../support/helpers.js'
import { localTimes } from '../support/local-times.js'

const compute = (expression: object): unknown =>
  fromRawValue(compileExpression(toRawValue(expression), context).evaluateOn(encode({}))!)

t.test('sums, differences, products and quotients of decimals have the digits of IEEE 754', (t) => {
  for (const [operator, left, right, result] of decimalResults) {
    const operands = [Decimal128.fromString(left), Decimal128.fromString(right)]
    t.equal(String(compute({ [operator]: operands })), result, `${left} ${operator} ${right}`)
  }
  t.end()
})

t.test('local times are those of the time zone database', (t) => {
  const format = '%Y-%m-%dT%H:%M:%S%z'
  for (const [timezone, at, local] of localTimes)
    t.equal(compute({ $dateToString: { date: new Date(at), timezone, format } }), local, `${at} in ${timezone}`)
  t.end()
})
