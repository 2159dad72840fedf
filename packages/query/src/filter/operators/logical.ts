import { BsonType, CommandError, elementsOf, isEmptyDocument, type RawValue } from '@shardlab/bson'
import { andOf, type FilterNode } from '../ast.js'
import type { FilterParser, PathOperator, RootOperator } from '../operator.js'
import { regexNodeOfValue } from './regex.js'

function parseChildren(name: string, argument: RawValue, parser: FilterParser): FilterNode[] {
  if (argument.type !== BsonType.array) throw new CommandError('BadValue', `${name} must be an array`)
  const elements = elementsOf(argument)
  if (elements.length === 0) throw new CommandError('BadValue', '$and/$or/$nor must be a nonempty array')
  return elements.map((element) => {
    if (element.type !== BsonType.object)
      throw new CommandError('BadValue', '$or/$and/$nor entries need to be full objects')
    return parser.parseDocument(element.slice())
  })
}

export const logicalOperators: readonly RootOperator[] = [
  {
    name: '$and',
    manualPage: 'query/and',
    status: 'complete',
    parse: (argument, parser) => andOf(parseChildren('$and', argument, parser)),
  },
  {
    name: '$or',
    manualPage: 'query/or',
    status: 'complete',
    parse(argument, parser) {
      const children = parseChildren('$or', argument, parser)
      return children.length === 1 ? children[0]! : { kind: 'or', children }
    },
  },
  {
    name: '$nor',
    manualPage: 'query/nor',
    status: 'complete',
    parse: (argument, parser) => ({ kind: 'nor', children: parseChildren('$nor', argument, parser) }),
  },
]

export const notOperator: PathOperator = {
  name: '$not',
  manualPage: 'query/not',
  status: 'complete',
  parse(path, argument, parser) {
    if (argument.type === BsonType.regex)
      return { kind: 'not', child: regexNodeOfValue(path, argument, parser.language) }
    if (argument.type !== BsonType.object) throw new CommandError('BadValue', '$not needs a regex or a document')
    const document = argument.slice()
    if (isEmptyDocument(document)) throw new CommandError('BadValue', '$not cannot be empty')
    return { kind: 'not', child: andOf(parser.parseOperators(path, document)) }
  },
}
