/** $in and $nin. */
import { BsonType, CommandError, elementsOf, encodeKeyString, RawValue } from '@shardlab/bson'
import { regexParts } from '../../values/format.js'
import type { InNode, RegexNode } from '../ast.js'
import type { FilterParser, LeafCompiler, PathOperator } from '../operator.js'
import { comparisonTest } from './comparison.js'
import { compileRegex, regexNode } from './regex.js'

function parseIn(path: string, argument: RawValue, parser: FilterParser, name: string): InNode {
  if (argument.type !== BsonType.array) throw new CommandError('BadValue', `${name} needs an array`)
  const values: RawValue[] = []
  const regexes: RegexNode[] = []
  for (const element of elementsOf(argument)) {
    if (parser.isOperatorDocument(element)) throw new CommandError('BadValue', `cannot nest $ under ${name}`)
    if (element.type === BsonType.undefined) throw new CommandError('BadValue', 'InMatchExpression equality cannot be undefined')
    if (element.type === BsonType.regex) regexes.push(regexNode(path, ...regexParts(element)))
    else values.push(element)
  }
  return { kind: 'in', path, values, regexes }
}

export const inOperators: readonly PathOperator[] = [
  { name: '$in', manualPage: 'query/in', status: 'complete', parse: (path, argument, parser) => parseIn(path, argument, parser, '$in') },
  {
    name: '$nin',
    manualPage: 'query/nin',
    status: 'complete',
    parse: (path, argument, parser) => ({ kind: 'not', child: parseIn(path, argument, parser, '$nin') }),
  },
]

/** Above this many values a set of keys is faster than one test after the other. */
const smallList = 8

export const compileIn: LeafCompiler<InNode> = (node, compiler) => {
  const regexes = node.regexes.map((regex) => compileRegex(regex, compiler).test)
  if (node.values.length <= smallList || compiler.strings !== undefined) {
    const tests = [...node.values.map((value) => comparisonTest('eq', value, compiler.strings)), ...regexes]
    return {
      leafArrays: 'elements',
      test(type, bytes, start, end) {
        for (let i = 0; i < tests.length; i++) if (tests[i]!(type, bytes, start, end)) return true
        return false
      },
    }
  }
  const keys = new Set(node.values.map((value) => encodeKeyString([value])))
  const hasNull = node.values.some((value) => value.type === BsonType.null)
  return {
    leafArrays: 'elements',
    test(type, bytes, start, end) {
      if (type === 0 || type === BsonType.undefined) return hasNull
      if (keys.has(encodeKeyString([new RawValue(type, bytes, start, end)]))) return true
      for (let i = 0; i < regexes.length; i++) if (regexes[i]!(type, bytes, start, end)) return true
      return false
    },
  }
}
