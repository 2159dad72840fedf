/** Conversions between text and binary data exist since 8.0. */
import { BsonType, RawValue, readInt32, stringValue, writeInt32 } from '@shardlab/bson'
import { formatEvaluated } from '../../../../values/format.js'
import { conversionFailure } from './numbers.js'

export type BinaryFormat = 'auto' | 'base64' | 'base64url' | 'hex' | 'utf8' | 'uuid'

export const binaryFormats: readonly string[] = ['auto', 'base64', 'base64url', 'hex', 'utf8', 'uuid']

const uuidSubtype = 4
const uuidText = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

function binaryValue(subtype: number, data: Uint8Array): RawValue {
  const bytes = new Uint8Array(5 + data.length)
  writeInt32(bytes, 0, data.length)
  bytes[4] = subtype
  bytes.set(data, 5)
  return new RawValue(BsonType.binary, bytes, 0, bytes.length)
}

const base64Text = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
const base64UrlText = /^[A-Za-z0-9_-]*$/

/** A string: the reason why the text is invalid. */
function parse(text: string, format: BinaryFormat): Uint8Array | string {
  switch (format) {
    case 'base64':
      return base64Text.test(text) ? Buffer.from(text, 'base64') : 'Input is not a valid base64 string.'
    case 'base64url':
      return base64UrlText.test(text) && text.length % 4 !== 1
        ? Buffer.from(text, 'base64url')
        : 'Input is not a valid base64url string.'
    case 'hex':
      return /^(?:[0-9a-f]{2})*$/i.test(text) ? Buffer.from(text, 'hex') : 'Input is not a valid hex string.'
    case 'utf8':
      return Buffer.from(text)
    case 'uuid':
      return uuidText.test(text) ? Buffer.from(text.replaceAll('-', ''), 'hex') : 'Input is not a valid UUID string.'
    default:
      return `Invalid format '${format}'`
  }
}

/** @throws CommandError ConversionFailure (241) */
export function binaryOfText(value: RawValue, format: BinaryFormat, subtype: number): RawValue {
  const text = value.asString()
  const parsed =
    (format === 'uuid') === (subtype === uuidSubtype)
      ? parse(text, format)
      : "Only the 'uuid' format is allowed with the UUID subtype"
  if (typeof parsed !== 'string') return binaryValue(subtype, parsed)
  throw conversionFailure(`Failed to parse BinData '${text}' in $convert with no onError value: ${parsed}`)
}

/** @throws CommandError ConversionFailure (241) */
export function textOfBinary(value: RawValue, format: BinaryFormat): RawValue {
  const data = Buffer.from(value.bytes.subarray(value.start + 5, value.start + 5 + readInt32(value.bytes, value.start)))
  const isUuid = value.bytes[value.start + 4] === uuidSubtype && data.length === 16
  const hex = data.toString('hex')
  const uuid = () => stringValue(hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'))
  const fail = (why: string) =>
    conversionFailure(
      `Failed to convert '${formatEvaluated(value)}' to string in $convert with no onError value: ${why}`,
    )
  switch (format) {
    case 'uuid':
      if (!isUuid) throw fail('BinData does not represent a valid UUID')
      return uuid()
    case 'base64url':
      return stringValue(data.toString('base64url'))
    case 'hex':
      return stringValue(hex.toUpperCase())
    case 'utf8':
      // Invalid UTF-8 is not the same after a round trip through a string.
      if (!Buffer.from(data.toString()).equals(data)) throw fail('BinData does not represent a valid UTF-8 string')
      return stringValue(data.toString())
    default:
      return format === 'auto' && isUuid ? uuid() : stringValue(data.toString('base64'))
  }
}
