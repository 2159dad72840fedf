/** $comment, $expr, $alwaysTrue, $alwaysFalse in the place of a field name; $comment also on a path. */
import { CommandError } from '@shardlab/bson'
import { exactInteger } from '../../values/arithmetic.js'
import { formatField } from '../../values/format.js'
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
  always('$alwaysTrue', true),
  always('$alwaysFalse', false),
]

export const pathComment: PathOperator = { name: '$comment', manualPage: 'query/comment', status: 'complete', parse: () => null }
