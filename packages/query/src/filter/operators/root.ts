import {
  BsonType,
  CommandError,
  DocumentWriter,
  documentValue,
  findField,
  typeName,
  type RawValue,
} from '@shardlab/bson'
import { toNumber } from '../../values/arithmetic.js'
import { integerArgument } from '../../values/integer-argument.js'
import { compileJsonSchema } from '../json-schema/compile.js'
import type { PathOperator, RootOperator } from '../operator.js'

/** `{$lt: [{$rand: {}}, rate]}` */
function randomBelow(rate: number): RawValue {
  const writer = new DocumentWriter()
    .startArray('$lt')
    .startDocument('0')
    .startDocument('$rand')
    .end()
    .end()
    .double('1', rate)
    .end()
  return documentValue(writer.finish())
}

const notAllowed = (name: string) => `${name} is not allowed in this context`

function onlyTopLevel(name: string): CommandError {
  return new CommandError('BadValue', `${name} can only be applied to the top-level document`)
}

function always(name: string, value: boolean): RootOperator {
  return {
    name,
    manualPage: 'query',
    status: 'complete',
    parse(argument) {
      if (integerArgument(name, argument) !== 1n)
        throw new CommandError('FailedToParse', `${name} must be an integer value of 1`)
      return { kind: 'always', value }
    },
  }
}

/** Every update here is isolated, as none yields. */
function isolated(name: string): RootOperator {
  return {
    name,
    manualPage: 'update/isolated',
    status: 'complete',
    parse(_argument, { isOutermost }) {
      if (!isOutermost) throw new CommandError('BadValue', '$atomic/$isolated has to be at the top level')
      return null
    },
  }
}

export const otherRootOperators: readonly RootOperator[] = [
  { name: '$comment', manualPage: 'query/comment', status: 'complete', parse: () => null },
  {
    name: '$expr',
    manualPage: 'query/expr',
    status: 'complete',
    parse(argument, { features }, isTopLevel) {
      if (!isTopLevel) throw onlyTopLevel('$expr')
      if (!features.has('expr')) throw new CommandError('QueryFeatureNotAllowed', notAllowed('$expr'))
      return { kind: 'expr', expression: argument }
    },
  },
  {
    name: '$jsonSchema',
    manualPage: 'query/jsonSchema',
    status: 'partial',
    missing: 'encryption keywords',
    parse(argument, { features }) {
      if (!features.has('jsonSchema')) throw new CommandError('QueryFeatureNotAllowed', notAllowed('$jsonSchema'))
      if (argument.type !== BsonType.object) throw new CommandError('TypeMismatch', '$jsonSchema must be an object')
      compileJsonSchema(argument)
      return { kind: 'jsonSchema', schema: argument }
    },
  },
  {
    name: '$where',
    manualPage: 'query/where',
    status: 'partial',
    deviations: ['D704'],
    missing: 'everything, like a server without JavaScript',
    parse(_argument, { features }, isTopLevel) {
      if (!features.has('where')) throw new CommandError('BadValue', notAllowed('$where'))
      if (!isTopLevel) throw onlyTopLevel('$where')
      throw new CommandError(6108304, 'no globalScriptEngine in $where parsing')
    },
  },
  {
    name: '$sampleRate',
    manualPage: 'aggregation/sampleRate',
    status: 'complete',
    parse(argument, _parser, isTopLevel) {
      if (!isTopLevel) throw onlyTopLevel('$sampleRate')
      if (!argument.isNumber()) throw new CommandError('BadValue', 'argument to $sampleRate must be a numeric type')
      const rate = toNumber(argument)
      if (!(rate >= 0 && rate <= 1))
        throw new CommandError('BadValue', 'numeric argument to $sampleRate must be in [0, 1]')
      if (rate === 0 || rate === 1) return { kind: 'always', value: rate === 1 }
      return { kind: 'expr', expression: randomBelow(rate) }
    },
  },
  {
    name: '$text',
    manualPage: 'query/text',
    status: 'partial',
    deviations: ['D105'],
    missing: 'everything, like a server without a text index',
    parse(argument, { features }, isTopLevel) {
      if (!isTopLevel) throw onlyTopLevel('$text')
      if (!features.has('text') && !features.has('late-text')) throw new CommandError('BadValue', notAllowed('$text'))
      if (argument.type !== BsonType.object) throw new CommandError('BadValue', '$text expects an object')
      const search = findField(argument.bytes, '$search', argument.start)
      if (search === undefined) throw new CommandError('NoSuchKey', 'Missing expected field "$search"')
      if (search.type !== BsonType.string)
        throw new CommandError(
          'TypeMismatch',
          `"$search" had the wrong type. Expected string, found ${typeName(search.type)}`,
        )
      if (features.has('late-text'))
        throw new CommandError(17313, '$match with $text is only allowed as the first pipeline stage')
      throw new CommandError('IndexNotFound', 'text index required for $text query')
    },
  },
  isolated('$isolated'),
  isolated('$atomic'),
  always('$alwaysTrue', true),
  always('$alwaysFalse', false),
]

export const pathComment: PathOperator = {
  name: '$comment',
  manualPage: 'query/comment',
  status: 'complete',
  parse: () => null,
}
