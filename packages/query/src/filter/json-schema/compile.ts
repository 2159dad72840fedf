/**
 * Draft 4 with `bsonType`. A keyword ignores values of types that it is not for. The checks have
 * the server's order: of two mistakes, the same one is reported. Server:
 * matcher/schema/json_schema_parser.cpp.
 */
import { BsonType, CommandError, FieldIterator, type RawValue } from '@shardlab/bson'
import { arrayKeywords } from './arrays.js'
import { mismatch, quoted, type Keyword, type SchemaTest } from './keyword.js'
import { logicalKeywords } from './logic.js'
import { objectKeywords } from './objects.js'
import { scalarKeywords } from './scalars.js'
import { compileTypes } from './types.js'

const keywords: ReadonlyMap<string, Keyword> = new Map([
  ...scalarKeywords,
  ...arrayKeywords,
  ...objectKeywords,
  ...logicalKeywords,
])
const typeKeywords = ['type', 'bsonType'] as const
const annotations = ['description', 'title'] as const
const others: ReadonlySet<string> = new Set([...typeKeywords, ...annotations])
const unsupported = new Set(['$ref', '$schema', 'default', 'definitions', 'format', 'id'])

function keywordsOf(schema: RawValue): Map<string, RawValue> {
  const given = new Map<string, RawValue>()
  for (const it = new FieldIterator(schema.bytes, schema.start); it.next();) {
    const name = it.name()
    if (unsupported.has(name)) throw new CommandError('FailedToParse', `${quoted(name)} is not currently supported`)
    if (!keywords.has(name) && !others.has(name))
      throw new CommandError('FailedToParse', `Unknown $jsonSchema keyword: ${name}`)
    if (given.has(name)) throw new CommandError('FailedToParse', `Duplicate $jsonSchema keyword: ${name}`)
    given.set(name, it.value())
  }
  return given
}

/**
 * @throws CommandError FailedToParse (9) for an unknown keyword or one given twice, TypeMismatch
 *   (14) for an argument of the wrong type, and the errors of keywords
 */
export function compileJsonSchema(schema: RawValue): SchemaTest {
  const given = keywordsOf(schema)
  for (const name of annotations)
    if (given.has(name) && given.get(name)!.type !== BsonType.string) throw mismatch(name, 'of type string')
  if (given.has('type') && given.has('bsonType'))
    throw new CommandError('FailedToParse', "Cannot specify both $jsonSchema keywords 'type' and 'bsonType'")
  const tests: SchemaTest[] = []
  for (const name of typeKeywords) if (given.has(name)) tests.push(compileTypes(name, given.get(name)!))
  const sibling = (name: string) => given.get(name)
  for (const [name, keyword] of keywords) {
    const argument = given.get(name)
    const test = argument === undefined ? null : keyword({ name, argument, sibling, compile: compileJsonSchema })
    if (test !== null) tests.push(test)
  }
  return (value) => tests.every((test) => test(value))
}
