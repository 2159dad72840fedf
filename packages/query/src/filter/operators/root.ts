/** $comment, $expr, $jsonSchema, $where, $alwaysTrue, $alwaysFalse in the place of a field name; $comment also on a path. */
import { BsonType, CommandError } from '@shardlab/bson'
import { exactInteger } from '../../values/arithmetic.js'
import { formatField } from '../../values/format.js'
import { compileJsonSchema } from '../json-schema.js'
import type { PathOperator, RootOperator } from '../operator.js'

function always(name: string, value: boolean): RootOperator {
  return {
    name,
    manualPage: 'query',
    status: 'complete',
    parse(argument) {
      const integer = exactInteger(argument)
      if (integer === null) throw new CommandError('FailedToParse', `Expected a number in: ${formatField(name, argument)}`)
      if (integer !== 1n) throw new CommandError('FailedToParse', `${name} must be an integer value of 1`)
      return { kind: 'always', value }
    },
  }
}

export const otherRootOperators: readonly RootOperator[] = [
  { name: '$comment', manualPage: 'query/comment', status: 'complete', parse: () => null },
  {
    name: '$expr',
    manualPage: 'query/expr',
    status: 'complete',
    parse(argument, _parser, isTopLevel) {
      if (!isTopLevel) throw new CommandError('BadValue', '$expr can only be applied to the top-level document')
      return { kind: 'expr', expression: argument }
    },
  },
  {
    name: '$jsonSchema',
    manualPage: 'query/jsonSchema',
    status: 'partial',
    note: 'no encryption keywords',
    parse(argument) {
      if (argument.type !== BsonType.object) throw new CommandError('TypeMismatch', '$jsonSchema must be an object')
      compileJsonSchema(argument)
      return { kind: 'jsonSchema', schema: argument }
    },
  },
  {
    name: '$where',
    manualPage: 'query/where',
    status: 'partial',
    note: 'refused, as by a server without JavaScript',
    parse() {
      throw new CommandError('BadValue', 'no globalScriptEngine in $where parsing')
    },
  },
  always('$alwaysTrue', true),
  always('$alwaysFalse', false),
]

export const pathComment: PathOperator = { name: '$comment', manualPage: 'query/comment', status: 'complete', parse: () => null }
