/**
 * Texts with bytes that are not UTF-8, such as a message that the server cuts inside a character.
 * Each such byte is a lone surrogate in the string, U+DC80 to U+DCFF, and the same byte again when
 * a `DocumentWriter` writes the string.
 */
import { asBuffer, readUtf8, type RawValue } from './raw-value.js'
import { BsonType } from './types.js'

/** Of a string; '' for any other value, or none. */
export function textOf(value: RawValue | undefined): string {
  return value?.type === BsonType.string ? readText(value.bytes, value.start + 4, value.end - 1) : ''
}

export function readText(bytes: Uint8Array, start: number, end: number): string {
  const text = readUtf8(bytes, start, end)
  return text.includes('\uFFFD') ? textWithRawBytes(bytes, start, end) : text
}

function textWithRawBytes(bytes: Uint8Array, start: number, end: number): string {
  let text = ''
  for (let at = start; at < end;) {
    const length = characterLength(bytes, at, end)
    text += length === 0 ? String.fromCharCode(0xdc00 + bytes[at]!) : asBuffer(bytes).utf8Slice(at, at + length)
    at += Math.max(1, length)
  }
  return text
}

/** 0: no character begins here. */
function characterLength(bytes: Uint8Array, at: number, end: number): number {
  const first = bytes[at]!
  const length = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0
  if (length === 0 || at + length > end) return 0
  for (let i = at + 1; i < at + length; i++) if ((bytes[i]! & 0xc0) !== 0x80) return 0
  // Surrogates and numbers that are too small or too large become more units than a character has.
  return asBuffer(bytes).utf8Slice(at, at + length).length === (length === 4 ? 2 : 1) ? length : 0
}

const rawBytes = /((?<![\uD800-\uDBFF])[\uDC80-\uDCFF]+)/

/** Null: the string has no raw bytes. */
export function bytesOfText(text: string): Uint8Array | null {
  if (!rawBytes.test(text)) return null
  const parts = text.split(rawBytes).map((part, i) => (i % 2 === 0 ? Buffer.from(part) : Buffer.from(part, 'latin1')))
  return Buffer.concat(parts)
}
