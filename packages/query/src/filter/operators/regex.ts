import { BsonType, CommandError, FieldIterator, findField, readUtf8, type RawValue } from '@shardlab/bson'
import { regexParts } from '../../values/format.js'
import { compilePattern } from '../patterns/pattern.js'
import type { RegexNode } from '../ast.js'
import type { LeafCompiler, PathOperator } from '../operator.js'

export function regexNode(path: string, pattern: string, flags: string): RegexNode {
  return { kind: 'regex', path, pattern, flags }
}

function parseRegex(path: string, siblings: Uint8Array): RegexNode {
  let pattern: string | null = null
  let flags = ''
  const setFlags = (given: string, code: number) => {
    if (flags !== '') throw new CommandError(code, 'options set in both $regex and $options')
    flags = given
  }
  for (const it = new FieldIterator(siblings); it.next();) {
    const value = it.value()
    if (it.name() === '$regex') {
      if (value.type === BsonType.string) pattern = value.asString()
      else if (value.type === BsonType.regex) {
        const [source, own] = regexParts(value)
        pattern = source
        if (own !== '') setFlags(own, 51074)
      } else throw new CommandError('BadValue', '$regex has to be a string')
    } else if (it.name() === '$options') {
      if (value.type !== BsonType.string) throw new CommandError('BadValue', '$options has to be a string')
      setFlags(value.asString(), 51075)
    }
  }
  if (pattern === null) throw new CommandError('BadValue', '$options needs a $regex')
  const node = regexNode(path, pattern, flags)
  compilePattern(pattern, flags)
  return node
}

export const regexOperators: readonly PathOperator[] = [
  {
    name: '$regex',
    manualPage: 'query/regex',
    status: 'partial',
    deviations: ['D103'],
    missing: 'possessive quantifiers, atomic groups, recursion, conditionals, \\K and \\G',
    parse: (path, _argument, _parser, siblings) => parseRegex(path, siblings),
  },
  {
    name: '$options',
    manualPage: 'query/regex',
    status: 'complete',
    // The row of $regex reads $options; without $regex it is an error.
    parse: (path, _argument, _parser, siblings) =>
      findField(siblings, '$regex') === undefined ? parseRegex(path, siblings) : null,
  },
]

export const compileRegex: LeafCompiler<RegexNode> = (node, { checkForInterrupt }) => {
  const expression = compilePattern(node.pattern, node.flags)
  return {
    leafArrays: 'elements',
    test(type, bytes, start, end) {
      if (type === BsonType.string || type === BsonType.symbol)
        return expression.test(readUtf8(bytes, start + 4, end - 1), checkForInterrupt)
      if (type !== BsonType.regex) return false
      return readUtf8(bytes, start, end) === `${node.pattern}\0${node.flags}\0`
    },
  }
}

export function regexNodeOfValue(path: string, value: RawValue): RegexNode {
  const node = regexNode(path, ...regexParts(value))
  compilePattern(node.pattern, node.flags)
  return node
}
