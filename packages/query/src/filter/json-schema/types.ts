import { BsonType, CommandError, elementsOf, type RawValue } from '@shardlab/bson'
import { numberTypes, typeOfAlias } from '../../values/type-alias.js'
import { mismatch, quoted, unparsable, type SchemaTest } from './keyword.js'

const jsonTypes: Readonly<Record<string, readonly number[]>> = {
  array: [BsonType.array],
  boolean: [BsonType.bool],
  null: [BsonType.null],
  number: numberTypes,
  object: [BsonType.object],
  string: [BsonType.string],
}

function typesOfAlias(keyword: 'type' | 'bsonType', alias: string): readonly number[] {
  if (alias === 'integer')
    throw new CommandError('FailedToParse', "$jsonSchema type 'integer' is not currently supported.")
  const type = typeOfAlias(alias)
  const types =
    keyword === 'type' ? jsonTypes[alias] : alias === 'number' ? numberTypes : type === undefined ? undefined : [type]
  if (types === undefined) throw new CommandError('BadValue', `Unknown type name alias: ${alias}`)
  return types
}

function aliasesOf(keyword: string, argument: RawValue): Set<string> {
  if (argument.type === BsonType.string) return new Set([argument.asString()])
  if (argument.type !== BsonType.array) throw mismatch(keyword, 'either a string or an array of strings')
  const aliases = new Set<string>()
  for (const element of elementsOf(argument)) {
    if (element.type !== BsonType.string)
      throw new CommandError('TypeMismatch', `${quoted(keyword)} array elements must be strings`)
    const alias = element.asString()
    if (aliases.has(alias)) throw unparsable(keyword, `has duplicate value: ${alias}`)
    aliases.add(alias)
  }
  return aliases
}

/** @throws CommandError FailedToParse (9), TypeMismatch (14), BadValue (2) for an unknown alias */
export function compileTypes(keyword: 'type' | 'bsonType', argument: RawValue): SchemaTest {
  const types = new Set<number>()
  for (const alias of aliasesOf(keyword, argument)) for (const type of typesOfAlias(keyword, alias)) types.add(type)
  if (types.size === 0) throw unparsable(keyword, 'must name at least one type')
  return (value) => types.has(value.type)
}
