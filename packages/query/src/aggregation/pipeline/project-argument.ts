/** Server: inclusion_projection_executor.cpp, exclusion_projection_executor.cpp. */
import { BsonType, DocumentWriter, elementsOf, FieldIterator, firstFieldName, type RawValue } from '@shardlab/bson'

export function isInclusion(argument: RawValue): boolean {
  let idStays = false
  for (const it = new FieldIterator(argument.bytes, argument.start); it.next();) {
    const stays = staysIn(it.value())
    if (it.name() !== '_id') return stays
    idStays = stays
  }
  return idStays
}

function staysIn(value: RawValue): boolean {
  if (value.type === BsonType.object) return isExpression(value) || isInclusion(value)
  return (value.type !== BsonType.bool && !value.isNumber()) || value.isTruthy()
}

function isExpression(value: RawValue): boolean {
  return firstFieldName(value.slice())?.startsWith('$') ?? false
}

export function computesFields(argument: RawValue): boolean {
  for (const it = new FieldIterator(argument.bytes, argument.start); it.next();) {
    const value = it.value()
    if (
      value.type === BsonType.object
        ? isExpression(value) || computesFields(value)
        : value.type !== BsonType.bool && !value.isNumber()
    )
      return true
  }
  return false
}

/** Whether a field is nested or computed. */
function isNested(argument: RawValue): boolean {
  for (const it = new FieldIterator(argument.bytes, argument.start); it.next();) {
    if (it.name().includes('.') || (it.type !== BsonType.bool && !it.value().isNumber())) return true
  }
  return false
}

/**
 * As explain shows it: `_id` is always present, at the front if it is included or excluded like the
 * other fields. A projection with nested fields stays as written.
 */
export function shownProjection(argument: RawValue): Uint8Array {
  if (isNested(argument)) return argument.slice()
  const writer = new DocumentWriter(128)
  const inclusion = isInclusion(argument)
  let idStays = true
  const others: string[] = []
  for (const it = new FieldIterator(argument.bytes, argument.start); it.next();) {
    if (it.name() === '_id') idStays = it.value().isTruthy()
    else others.push(it.name())
  }
  if (inclusion === idStays) writer.bool('_id', idStays)
  for (const name of others) writer.bool(name, inclusion)
  if (inclusion !== idStays) writer.bool('_id', idStays)
  return writer.finish()
}

/** Turns the argument of $unset into one of $project. */
export function exclusionOf(argument: RawValue): Uint8Array {
  const writer = new DocumentWriter(64)
  for (const name of argument.type === BsonType.array ? elementsOf(argument) : [argument])
    writer.bool(name.asString(), false)
  return writer.finish()
}
