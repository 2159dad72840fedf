/**
 * Arguments that the server declares as structures (IDL), with the errors of its generated parsers.
 */
import { BsonType, CommandError, FieldIterator, typeName, type RawValue } from '@shardlab/bson'

export interface StructField {
  /** Type aliases; absent: any type. */
  readonly types?: readonly string[]
  readonly required?: boolean
}

/**
 * @param name of the structure in messages, such as `$fill`
 * @throws CommandError 40415 for an unknown field, 40413 for one given twice, 40414 for a missing
 *   one, TypeMismatch (14)
 */
export function parseStruct(
  name: string,
  argument: RawValue,
  fields: Readonly<Record<string, StructField>>,
): Map<string, RawValue> {
  const given = new Map<string, RawValue>()
  if (argument.type !== BsonType.object)
    throw new CommandError(
      'TypeMismatch',
      `BSON field '${name}' is the wrong type '${typeName(argument.type)}', expected type 'object'`,
    )
  for (const it = new FieldIterator(argument.bytes, argument.start); it.next();) {
    const field = it.name()
    const declared = Object.hasOwn(fields, field) ? fields[field]! : undefined
    if (declared === undefined) throw new CommandError(40415, `BSON field '${name}.${field}' is an unknown field.`)
    if (given.has(field)) throw new CommandError(40413, `BSON field '${name}.${field}' is a duplicate field`)
    const value = it.value()
    checkType(`${name}.${field}`, value, declared.types)
    given.set(field, value)
  }
  for (const [field, { required }] of Object.entries(fields))
    if (required && !given.has(field))
      throw new CommandError(40414, `BSON field '${name}.${field}' is missing but a required field`)
  return given
}

function checkType(path: string, value: RawValue, types: readonly string[] | undefined): void {
  const type = typeName(value.type)
  if (types === undefined || types.includes(type)) return
  const expected = types.length === 1 ? `type '${types[0]}'` : `types '[${types.join(', ')}]'`
  throw new CommandError('TypeMismatch', `BSON field '${path}' is the wrong type '${type}', expected ${expected}`)
}

/** @throws CommandError TypeMismatch (14) */
export function stringsOf(path: string, array: RawValue): string[] {
  const texts: string[] = []
  for (const it = new FieldIterator(array.bytes, array.start); it.next();) {
    const value = it.value()
    checkType(`${path}.${it.name()}`, value, ['string'])
    texts.push(value.asString())
  }
  return texts
}
