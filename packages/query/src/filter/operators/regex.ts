import { BsonType, CommandError, FieldIterator, findField, readUtf8, type RawValue } from '@shardlab/bson'
import { regexParts } from '../../values/format.js'
import type { Language } from '../../language/language.js'
import { checkPatternOptions, compilePattern } from '../patterns/pattern.js'
import type { RegexNode } from '../ast.js'
import type { LeafCompiler, PathOperator } from '../operator.js'

function regexNode(path: string, pattern: string, flags: string): RegexNode {
  return { kind: 'regex', path, pattern, flags }
}

function parseRegex(path: string, siblings: Uint8Array, language: Language): RegexNode {
  let pattern: string | null = null
  let flags = ''
  const setFlags = (given: string, code: number) => {
    if (flags !== '' && language.regexOptions !== 'last')
      throw new CommandError(code, 'options set in both $regex and $options')
    flags = given
  }
  for (const it = new FieldIterator(siblings); it.next();) {
    const value = it.value()
    if (it.name() === '$regex') {
      if (value.type === BsonType.string) pattern = value.asString()
      else if (value.type === BsonType.regex) {
        const [source, own] = regexParts(value)
        pattern = source
        if (own !== '' || language.regexOptions === 'last') setFlags(own, 51074)
      } else throw new CommandError('BadValue', '$regex has to be a string')
    } else if (it.name() === '$options') {
      if (value.type !== BsonType.string) throw new CommandError('BadValue', '$options has to be a string')
      setFlags(value.asString(), 51075)
    }
  }
  if (pattern === null) throw new CommandError('BadValue', '$options needs a $regex')
  return checkedNode(path, pattern, flags, language)
}

function checkedNode(path: string, pattern: string, flags: string, language: Language): RegexNode {
  // Without the name of an operator, the server's text begins with a space.
  if (language.regexOptions === 'known') checkPatternOptions('', flags, language)
  compilePattern(pattern, flags)
  return regexNode(path, pattern, flags)
}

export const regexOperators: readonly PathOperator[] = [
  {
    name: '$regex',
    manualPage: 'query/regex',
    status: 'partial',
    deviations: ['D103'],
    missing: 'possessive quantifiers, atomic groups, recursion, conditionals, \\K and \\G',
    parse: (path, _argument, { language }, siblings) => parseRegex(path, siblings, language),
  },
  {
    name: '$options',
    manualPage: 'query/regex',
    status: 'complete',
    // The row of $regex reads $options; without $regex it is an error.
    parse: (path, _argument, { language }, siblings) =>
      findField(siblings, '$regex') === undefined ? parseRegex(path, siblings, language) : null,
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

export function regexNodeOfValue(path: string, value: RawValue, language: Language): RegexNode {
  return checkedNode(path, ...regexParts(value), language)
}
