/** Dotted paths, taken apart once. */

export interface PathPart {
  readonly name: string
  /** The name in UTF-8, to compare with stored names. */
  readonly bytes: Uint8Array
  /** All digits: may mean a place in an array. */
  readonly isIndex: boolean
}

export interface FieldPath {
  readonly dotted: string
  readonly parts: readonly PathPart[]
}

/** Paths that were taken apart lately; emptied when full. A memo of a pure function: it changes no result. */
const known = new Map<string, FieldPath>()
const maxKnown = 1000

/** An empty path has one part with an empty name, as on the server. */
export function fieldPath(dotted: string): FieldPath {
  let path = known.get(dotted)
  if (path === undefined) {
    if (known.size >= maxKnown) known.clear()
    path = parse(dotted)
    known.set(dotted, path)
  }
  return path
}

function parse(dotted: string): FieldPath {
  return {
    dotted,
    parts: dotted.split('.').map((name) => ({ name, bytes: Buffer.from(name, 'utf8'), isIndex: isDigits(name) })),
  }
}

/** Only decimal digits; "" is not. */
export function isDigits(name: string): boolean {
  return /^[0-9]+$/.test(name)
}

/** An array index as stored names are written: digits without leading zeros. */
export function isArrayIndex(name: string): boolean {
  return /^(0|[1-9][0-9]*)$/.test(name)
}
