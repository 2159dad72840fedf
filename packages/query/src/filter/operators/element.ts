import { BsonType, CommandError, elementsOf, isBsonType, type RawValue } from '@shardlab/bson'
import { exactInteger } from '../../values/arithmetic.js'
import { numberTypes, typeOfAlias } from '../../values/type-alias.js'
import type { ExistsNode, TypeNode } from '../ast.js'
import type { FilterParser, LeafCompiler, PathOperator } from '../operator.js'

function parseTypes(path: string, argument: RawValue, { language }: FilterParser): number[] {
  if (!language.has('form', 'typeAliases')) return [typeOfNumber(argument)]
  const elements = argument.type === BsonType.array ? elementsOf(argument) : [argument]
  const types = new Set<number>()
  for (const element of elements) for (const type of parseType(element)) types.add(type)
  if (types.size === 0) throw new CommandError('FailedToParse', `${path} must match at least one type`)
  return [...types]
}

/** Before names and lists of types; a number that is no type matches nothing. */
function typeOfNumber(argument: RawValue): number {
  if (!argument.isNumber()) throw new CommandError('BadValue', '$type has to be a number')
  const integer = exactInteger(argument)
  if (integer === -1n) return BsonType.minKey
  return integer !== null && integer > 0n && integer < 256n ? Number(integer) : 0
}

export function parseType(element: RawValue): readonly number[] {
  if (element.type === BsonType.string) {
    const alias = element.asString()
    if (alias === 'number') return numberTypes
    const type = typeOfAlias(alias)
    if (type === undefined) throw new CommandError('BadValue', `Unknown type name alias: ${alias}`)
    return [type]
  }
  if (!element.isNumber()) throw new CommandError('TypeMismatch', 'type must be represented as a number or a string')
  const integer = exactInteger(element)
  const type = integer === -1n ? BsonType.minKey : integer === null ? -1 : Number(integer)
  if (type === 0) throw new CommandError('BadValue', 'Invalid numerical type code: 0. Instead use {$exists:false}.')
  if (type < 0 || (type === 0xff && integer !== -1n) || !isBsonType(type))
    throw new CommandError('BadValue', `Invalid numerical type code: ${integer ?? element.asNumber()}`)
  return [type]
}

export const elementOperators: readonly PathOperator[] = [
  {
    name: '$exists',
    manualPage: 'query/exists',
    status: 'complete',
    parse: (path, argument) =>
      argument.isTruthy() ? { kind: 'exists', path } : { kind: 'not', child: { kind: 'exists', path } },
  },
  {
    name: '$type',
    manualPage: 'query/type',
    status: 'complete',
    parse: (path, argument, parser) => ({ kind: 'type', path, types: parseTypes(path, argument, parser) }),
  },
]

export const compileExists: LeafCompiler<ExistsNode> = () => ({ leafArrays: 'elements', test: (type) => type !== 0 })

export const compileType: LeafCompiler<TypeNode> = (node) => {
  const wanted = new Uint8Array(256)
  for (const type of node.types) wanted[type] = 1
  return { leafArrays: 'elements', test: (type) => type !== 0 && wanted[type] === 1 }
}
