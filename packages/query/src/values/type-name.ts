import { BsonType, typeName } from '@shardlab/bson'
import { newestLanguage, type Language } from '../language/language.js'

/** Server: bsontypes.cpp, until 3.2. */
const classicNames: ReadonlyMap<number, string> = new Map([
  [BsonType.double, 'NumberDouble'],
  [BsonType.string, 'String'],
  [BsonType.object, 'Object'],
  [BsonType.array, 'Array'],
  [BsonType.binary, 'BinaryData'],
  [BsonType.undefined, 'Undefined'],
  [BsonType.objectId, 'OID'],
  [BsonType.bool, 'Bool'],
  [BsonType.date, 'Date'],
  [BsonType.null, 'NULL'],
  [BsonType.regex, 'RegEx'],
  [BsonType.int32, 'NumberInt32'],
  [BsonType.timestamp, 'Timestamp'],
  [BsonType.int64, 'NumberLong64'],
])

/** As errors of the emulated version name it. */
export function typeNameIn(type: number, language: Language = newestLanguage): string {
  return (language.typesHaveClassicNames ? classicNames.get(type) : undefined) ?? typeName(type)
}
