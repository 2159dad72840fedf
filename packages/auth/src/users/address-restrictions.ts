/**
 * From where users may authenticate. Manual: reference/command/createUser, Authentication
 * Restrictions. Server: `address_restriction.cpp`, `cidr.cpp`.
 */
import { BsonType, CommandError, elementsOf, FieldIterator, findField, typeName, type RawValue } from '@shardlab/bson'

interface AddressRange {
  readonly bytes: readonly number[]
  readonly bits: number
}

/** @throws CommandError UnsupportedFormat, CollectionIsEmpty, BadValue */
export function checkAddressRestrictions(restrictions: RawValue): void {
  for (const each of elementsOf(restrictions)) {
    if (each.type !== BsonType.object)
      throw new CommandError(
        'UnsupportedFormat',
        "'authenticationRestrictions' array sub-documents must be address restriction objects",
      )
    checkFields(each)
    const ranges = [rangesOf(each, 'clientSource'), rangesOf(each, 'serverAddress')]
    if (ranges.every((list) => list === null))
      throw new CommandError('CollectionIsEmpty', "At least one of 'clientSource' and/or 'serverAddress' must be set")
  }
}

const fields: readonly string[] = ['clientSource', 'serverAddress']

/** Server: address_restriction.idl, whose errors get the code BadValue. */
function checkFields(restriction: RawValue): void {
  const wrong = (field: string, what: string): CommandError =>
    new CommandError('BadValue', `BSON field 'address restriction.${field}' is ${what}`)
  for (const it = new FieldIterator(restriction.bytes, restriction.start); it.next();) {
    const [name, value] = [it.name(), it.value()]
    if (!fields.includes(name)) throw wrong(name, 'an unknown field.')
    if (value.type !== BsonType.array)
      throw wrong(name, `the wrong type '${typeName(value.type)}', expected type 'array'`)
    for (const [i, element] of elementsOf(value).entries())
      if (element.type !== BsonType.string)
        throw wrong(`${name}.${i}`, `the wrong type '${typeName(element.type)}', expected type 'string'`)
  }
}

/** A copy without the command's bytes. Null: there are none. */
export function storedRestrictions(restrictions: RawValue | null): RawValue | null {
  return restrictions === null || elementsOf(restrictions).length === 0 ? null : restrictions.detached()
}

/**
 * One restriction of each list must hold; a list for each of the user and its roles.
 * @param lists arrays that {@link checkAddressRestrictions} has accepted
 */
export function meetsAddressRestrictions(
  lists: readonly RawValue[],
  clientAddress: string,
  serverAddress: string,
): boolean {
  return lists.every((list) => {
    const restrictions = elementsOf(list)
    if (restrictions.length === 0) return true
    return restrictions.some(
      (each) =>
        isWithin(clientAddress, rangesOf(each, 'clientSource')) &&
        isWithin(serverAddress, rangesOf(each, 'serverAddress')),
    )
  })
}

function isWithin(address: string, ranges: readonly AddressRange[] | null): boolean {
  if (ranges === null) return true
  const bytes = addressBytes(address)
  return bytes !== null && ranges.some((range) => contains(range, bytes))
}

function contains({ bytes, bits }: AddressRange, address: readonly number[]): boolean {
  if (bytes.length !== address.length) return false
  return bytes.every((byte, i) => {
    const significant = Math.min(8, Math.max(0, bits - i * 8))
    return byte >> (8 - significant) === address[i]! >> (8 - significant)
  })
}

function rangesOf(restriction: RawValue, field: string): AddressRange[] | null {
  const value = findField(restriction.bytes, field, restriction.start)
  if (value === undefined) return null
  // A directory of an earlier release may have one address without an array.
  const elements = value.type === BsonType.array ? elementsOf(value) : [value]
  return elements.map((element) => {
    const range = element.type === BsonType.string ? parseRange(element.asString()) : null
    if (range === null) throw new CommandError('BadValue', `Invalid address range in ${field}`)
    return range
  })
}

/** `192.0.2.0/24`, `2001:db8::/32`, or one address. */
function parseRange(text: string): AddressRange | null {
  const [address, length, ...rest] = text.split('/')
  const bytes = addressBytes(address!)
  if (bytes === null || rest.length > 0) return null
  if (length === undefined) return { bytes, bits: bytes.length * 8 }
  const bits = /^\d{1,3}$/.test(length) ? Number(length) : Infinity
  return bits <= bytes.length * 8 ? { bytes, bits } : null
}

/** Four bytes, or sixteen; null: not an IP address. */
function addressBytes(text: string): number[] | null {
  if (!text.includes(':')) return ipv4Bytes(text)
  const [head, tail, ...rest] = text.split('::')
  if (rest.length > 0) return null
  const before = groupBytes(head!)
  if (tail === undefined) return before?.length === 16 ? before : null
  const after = groupBytes(tail)
  if (before === null || after === null || before.length + after.length > 14) return null
  return [...before, ...Array.from({ length: 16 - before.length - after.length }, () => 0), ...after]
}

function groupBytes(text: string): number[] | null {
  const bytes: number[] = []
  const groups = text === '' ? [] : text.split(':')
  for (const [i, group] of groups.entries()) {
    if (i === groups.length - 1 && group.includes('.')) {
      const last = ipv4Bytes(group)
      if (last === null) return null
      bytes.push(...last)
    } else if (/^[\da-f]{1,4}$/i.test(group)) {
      const value = Number.parseInt(group, 16)
      bytes.push(value >> 8, value & 0xff)
    } else return null
  }
  return bytes
}

function ipv4Bytes(text: string): number[] | null {
  const parts = text.split('.')
  if (parts.length !== 4 || !parts.every((part) => /^\d{1,3}$/.test(part) && Number(part) < 256)) return null
  return parts.map(Number)
}
