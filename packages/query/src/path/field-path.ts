export interface PathPart {
  readonly name: string
  /** UTF-8, to compare with stored names. */
  readonly bytes: Uint8Array
  /** All digits: may be an array index. */
  readonly isIndex: boolean
  /**
   * The empty name after a dot at the end of the path: an array before it is tested like one at the
   * end of a path.
   */
  readonly isEmptyEnd: boolean
}

export interface FieldPath {
  readonly dotted: string
  readonly parts: readonly PathPart[]
}

const cache = new Map<string, FieldPath>()
const maxCached = 1000

/** An empty path has one part with an empty name, as on the server. */
export function fieldPath(dotted: string): FieldPath {
  let path = cache.get(dotted)
  if (path === undefined) {
    if (cache.size >= maxCached) cache.clear()
    path = parse(dotted)
    cache.set(dotted, path)
  }
  return path
}

function parse(dotted: string): FieldPath {
  const names = dotted.split('.')
  return {
    dotted,
    parts: names.map((name, at) => ({
      name,
      bytes: Buffer.from(name, 'utf8'),
      isIndex: isDigits(name),
      isEmptyEnd: name === '' && at > 0 && at === names.length - 1,
    })),
  }
}

/** False for "". */
export function isDigits(name: string): boolean {
  return /^[0-9]+$/.test(name)
}

/** Without leading zeros, the form in which array indexes are stored. */
export function isArrayIndex(name: string): boolean {
  return /^(0|[1-9][0-9]*)$/.test(name)
}
