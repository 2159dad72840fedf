/** Predicates, sorts and projections in a query shape. Server: projection_ast_util.cpp. */
import { BsonType, DocumentWriter, FieldIterator, findField, firstFieldName, type RawValue } from '@shardlab/bson'
import { allFilterFeatures } from '../filter/features.js'
import { parseFilter } from '../filter/parse.js'
import { serializeFilter, type LiteralForm } from '../filter/serialize.js'
import { writeExpression } from './expressions.js'
import { listText, literalText } from './literals.js'

const typesOfLiterals: LiteralForm = {
  value: (writer, name, value) => void writer.string(name, literalText(value)),
  list: (writer, name, values) => void writer.string(name, listText(values)),
  expression: writeExpression,
}

/** @throws CommandError of the filter */
export function filterShape(filter: Uint8Array): Uint8Array {
  return serializeFilter(parseFilter(filter, allFilterFeatures), typesOfLiterals)
}

export function sortShape(sort: RawValue): Uint8Array {
  const writer = new DocumentWriter(64)
  for (const it = new FieldIterator(sort.bytes, sort.start); it.next();) {
    const value = it.value()
    if (value.isNumber()) writer.int32(it.name(), value.asNumber() < 0 ? -1 : 1)
    else writer.value(it.name(), value)
  }
  return writer.finish()
}

/** An inclusion names `_id`, which it has by default. */
export function projectionShape(projection: RawValue): Uint8Array {
  const writer = new DocumentWriter(128)
  writeProjection(writer, projection)
  if (includes(projection) && findField(projection.bytes, '_id', projection.start) === undefined)
    writer.bool('_id', true)
  return writer.finish()
}

/** Operators of find that neither include nor exclude other fields. */
const neutralOperators: ReadonlySet<string> = new Set(['$slice', '$elemMatch', '$meta'])

function includes(projection: RawValue): boolean {
  for (const it = new FieldIterator(projection.bytes, projection.start); it.next();) {
    const value = it.value()
    const operator = value.type === BsonType.object ? firstFieldName(value.slice()) : undefined
    const isFlag = value.isNumber() || value.type === BsonType.bool
    if (it.name() === '_id' || (operator !== undefined && neutralOperators.has(operator))) continue
    if (!isFlag || value.isTruthy()) return true
  }
  return false
}

function writeProjection(writer: DocumentWriter, projection: RawValue): void {
  for (const it = new FieldIterator(projection.bytes, projection.start); it.next();) {
    const name = it.name()
    const value = it.value()
    const inner = value.type === BsonType.object ? firstFieldName(value.slice()) : undefined
    if (value.isNumber() || value.type === BsonType.bool) writer.bool(name, value.isTruthy())
    else if (inner === '$elemMatch') writer.fields(filterShape(new DocumentWriter(64).value(name, value).finish()))
    else if (inner !== undefined && !inner.startsWith('$')) {
      writer.startDocument(name)
      writeProjection(writer, value)
      writer.end()
    } else writeExpression(writer, name, value)
  }
}
