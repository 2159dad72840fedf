/** The server parses the keywords in this order. Values of other types pass. */
import { BsonType, CommandError } from '@shardlab/bson'
import { toNumber } from '../../values/arithmetic.js'
import { remainderOfDecimals } from '../../values/decimals/decimal.js'
import { nonNegativeArgument } from '../../values/integer-argument.js'
import type { ComparisonOperator } from '../ast.js'
import { comparisonTest } from '../operators/comparison.js'
import { compilePattern } from '../patterns/pattern.js'
import { mismatch, unparsable, type Keyword, type Keywords } from './keyword.js'

const pattern: Keyword = ({ name, argument }) => {
  if (argument.type !== BsonType.string) throw mismatch(name, 'a string')
  const expression = compilePattern(argument.asString(), '')
  return (value) => value.type !== BsonType.string || expression.test(value.asString())
}

function length(fits: (codePoints: number, bound: number) => boolean): Keyword {
  return ({ name, argument }) => {
    const bound = Number(nonNegativeArgument(name, argument))
    return (value) => value.type !== BsonType.string || fits(Array.from(value.asString()).length, bound)
  }
}

const multipleOf: Keyword = ({ name, argument }) => {
  if (!argument.isNumber()) throw mismatch(name, 'a number')
  if (toNumber(argument) <= 0) throw unparsable(name, 'must have a positive value')
  return (value) => !value.isNumber() || toNumber(remainderOfDecimals(value, argument)!) === 0
}

function limit(exclusiveName: string, inclusive: ComparisonOperator, exclusive: ComparisonOperator): Keyword {
  return ({ name, argument, sibling }) => {
    const flag = sibling(exclusiveName)
    if (flag !== undefined && flag.type !== BsonType.bool) throw mismatch(exclusiveName, 'a boolean')
    if (!argument.isNumber()) throw mismatch(name, 'a number')
    const operator = flag?.asBool() === true ? exclusive : inclusive
    const test = comparisonTest(operator, argument, { strings: undefined, undefinedMatchesNull: false })
    return (value) => !value.isNumber() || test(value.type, value.bytes, value.start, value.end)
  }
}

function exclusive(limitName: string): Keyword {
  return ({ name, sibling }) => {
    if (sibling(limitName) === undefined)
      throw new CommandError(
        'FailedToParse',
        `$jsonSchema keyword '${limitName}' must be a present if ${name} is present`,
      )
    return null
  }
}

export const scalarKeywords: Keywords = [
  ['pattern', pattern],
  ['maxLength', length((codePoints, bound) => codePoints <= bound)],
  ['minLength', length((codePoints, bound) => codePoints >= bound)],
  ['multipleOf', multipleOf],
  ['maximum', limit('exclusiveMaximum', 'lte', 'lt')],
  ['exclusiveMaximum', exclusive('maximum')],
  ['minimum', limit('exclusiveMinimum', 'gte', 'gt')],
  ['exclusiveMinimum', exclusive('minimum')],
]
