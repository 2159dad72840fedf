/**
 * @param descending as passed for this field to `encodeKeyString`
 * @throws Error if the string is not a KeyString
 */
export function keyStringFieldEnd(key: string, start: number, descending = false): number {
  const flip = descending ? 0xff : 0
  return payloadEnd(key, start + 1, key.charCodeAt(start) ^ flip, flip)
}

function payloadEnd(key: string, at: number, rank: number, flip: number): number {
  switch (rank) {
    case 0x10:
    case 0x18:
    case 0x20:
    case 0xe0:
      return at
    case 0x28:
      return numberEnd(key, at, flip)
    case 0x30:
    case 0x80:
      return terminated(key, at, flip)
    case 0x38:
      return fieldsEnd(key, at, flip, true)
    case 0x40:
      return fieldsEnd(key, at, flip, false)
    case 0x48:
      return at + length(key, at, flip)
    case 0x50:
      return at + 12
    case 0x58:
      return at + 1
    case 0x60:
    case 0x68:
      return at + 8
    case 0x70:
      return terminated(key, terminated(key, at, flip), flip)
    case 0x78:
      return at + 4 + length(key, at, flip)
    case 0x88:
      return fieldsEnd(key, terminated(key, at, flip), flip, true)
    default:
      throw new Error(`not a KeyString: unknown rank ${rank}`)
  }
}

function numberEnd(key: string, at: number, flip: number): number {
  if ((key.charCodeAt(at + 8) ^ flip) === 0) return at + 9
  if ((key.charCodeAt(at + 11) ^ flip) === 0) return at + 12
  // The digits of a negative decimal are inverted, and so is their terminator.
  let end = at + 14
  for (;;) {
    const byte = key.charCodeAt(end++) ^ flip
    if (byte === 0 || byte === 0xff) return end
  }
}

function terminated(key: string, at: number, flip: number): number {
  const end = key.indexOf(flip === 0 ? '\0' : '\xff', at)
  if (end < 0) throw new Error('not a KeyString: unterminated text')
  return end + 1
}

function fieldsEnd(key: string, start: number, flip: number, named: boolean): number {
  let at = start
  for (;;) {
    const rank = key.charCodeAt(at++) ^ flip
    if (rank === 0) return at
    if (named) at = terminated(key, at, flip)
    at = payloadEnd(key, at, rank, flip)
  }
}

function length(key: string, at: number, flip: number): number {
  let value = 0
  for (let i = 0; i < 4; i++) value = value * 256 + (key.charCodeAt(at + i) ^ flip)
  return value
}
