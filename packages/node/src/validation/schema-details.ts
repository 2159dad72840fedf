/**
 * Why a document fails a `$jsonSchema`: one entry for each failing keyword, in the order in which
 * the server checks keywords. Server: doc_validation_error.cpp, json_schema_parser.cpp.
 */
import { BsonType, documentValue, DocumentWriter, elementsOf, findField, type RawValue } from '@shardlab/bson'
import { startDetails, wrapped, type DetailsContext } from './details-writer.js'
import { writeAnnotations } from './keyword-call.js'
import { arrayKeywords, logicalKeywords, objectKeywords, scalarKeywords, typeKeywords } from './schema-keywords.js'

/** `{ operatorName: '$jsonSchema', schemaRulesNotSatisfied: […] }`. */
export function jsonSchemaDetails(
  schema: RawValue,
  document: Uint8Array,
  inverted: boolean,
  context: DetailsContext,
): Uint8Array {
  if (inverted)
    return new DocumentWriter(64).string('operatorName', '$jsonSchema').string('reason', 'schema matched').finish()
  if (excludesObjects(schema)) {
    return startDetails(context, '$jsonSchema', wrapped('$jsonSchema', schema))
      .string('reason', 'expression always evaluates to false')
      .finish()
  }
  const writer = new DocumentWriter(512).string('operatorName', '$jsonSchema')
  writeAnnotations(writer, schema)
  return writer
    .documents('schemaRulesNotSatisfied', schemaFailures(schema, documentValue(document), context, true))
    .finish()
}

function schemaFailures(schema: RawValue, value: RawValue, context: DetailsContext, isRoot = false): Uint8Array[] {
  const failures: Uint8Array[] = []
  const below = (inner: RawValue, innerValue: RawValue) => schemaFailures(inner, innerValue, context)
  // Every stored document is an object, so at the root only the keywords of objects apply.
  const groups = isRoot
    ? [objectKeywords, logicalKeywords]
    : [scalarKeywords, arrayKeywords, objectKeywords, logicalKeywords, typeKeywords]
  for (const group of groups) {
    for (const [name, details] of group) {
      const argument = findField(schema.bytes, name, schema.start)
      if (argument !== undefined) failures.push(...details({ argument, schema, value, context, failures: below }))
    }
  }
  return failures
}

function excludesObjects(schema: RawValue): boolean {
  const type = findField(schema.bytes, 'bsonType', schema.start) ?? findField(schema.bytes, 'type', schema.start)
  if (type === undefined) return false
  const names = type.type === BsonType.array ? elementsOf(type) : [type]
  return !names.some((name) => name.asString() === 'object')
}
