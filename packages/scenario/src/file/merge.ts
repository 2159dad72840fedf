type Data = Record<string, unknown>
type Path = readonly (string | number)[]

export interface Merged {
  readonly value: Data
  /** Maps a path in the merged scenario, `collections.0.key`, to its place in the file. */
  readonly originOf: (path: readonly PropertyKey[]) => Path
}

/**
 * In these lists, the n-th entry of a variant for a collection merges over the n-th of the
 * scenario.
 */
const byNamespace: ReadonlySet<string> = new Set(['collections', 'data', 'workload'])

/**
 * `cluster` is merged by setting, entries of `collections`, `data` and `workload` over the entry
 * for the same collection (an empty list empties it); all else is replaced as a whole.
 * @param at place of the variant in the file
 */
export function mergeVariant(base: Data, variant: Data, at: Path): Merged {
  const value: Data = { ...base }
  const origins = new Map<string, Path>()
  const from = (path: Path, origin: Path): void => void origins.set(path.join('.'), origin)
  for (const [name, own] of Object.entries(variant)) {
    if (name === 'name') continue
    const before = base[name]
    from([name], [...at, name])
    if (byNamespace.has(name) && Array.isArray(own) && own.length > 0 && Array.isArray(before))
      value[name] = mergeLists(name, before, own, at, from)
    else if (name === 'cluster' && isData(own) && isData(before)) {
      value[name] = { ...before, ...own }
      for (const setting of Object.keys(before)) if (!(setting in own)) from([name, setting], [name, setting])
    } else value[name] = own
  }
  const originOf = (path: readonly PropertyKey[]): Path => {
    for (let length = path.length; length > 0; length--) {
      const origin = origins.get(path.slice(0, length).join('.'))
      if (origin !== undefined) return [...origin, ...(path.slice(length) as Path)]
    }
    return path as Path
  }
  return { value, originOf }
}

function mergeLists(
  name: string,
  before: readonly unknown[],
  own: readonly unknown[],
  at: Path,
  from: (path: Path, origin: Path) => void,
): unknown[] {
  const merged = [...before]
  before.forEach((_, i) => from([name, i], [name, i]))
  const used = new Set<number>()
  own.forEach((entry, i) => {
    const index = merged.findIndex(
      (each, k) => !used.has(k) && isData(each) && isData(entry) && each['ns'] === entry['ns'],
    )
    const place = index === -1 ? merged.length : index
    used.add(place)
    merged[place] = index === -1 ? entry : { ...(merged[index] as Data), ...(entry as Data) }
    if (index === -1) from([name, place], [...at, name, i])
    else for (const setting of Object.keys(entry as Data)) from([name, place, setting], [...at, name, i, setting])
  })
  return merged
}

function isData(value: unknown): value is Data {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
