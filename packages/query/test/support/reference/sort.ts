/** Slow, independent sort keys, as an index stores them. Paths must not contain numbers. */
import { order, type Plain } from './filter.js'

interface Place {
  readonly value: Plain | undefined
  readonly rest: readonly string[]
  /** The path walked so far. */
  readonly prefix: string
}

export class ParallelArrays extends Error {}

function advance({ value, rest, prefix }: Place): Place {
  const [name, ...others] = rest
  if (name === undefined || Array.isArray(value)) return { value, rest, prefix }
  const isObject = typeof value === 'object' && value !== null
  return advance({
    value: isObject && Object.hasOwn(value, name) ? value[name] : undefined,
    rest: others,
    prefix: `${prefix}.${name}`,
  })
}

function tuples(places: readonly Place[], done: ReadonlySet<number>): (Plain | undefined)[][] {
  const here = places.map((place, index) => (done.has(index) ? place : advance(place)))
  const open = here.flatMap((place, index) => (!done.has(index) && Array.isArray(place.value) ? [index] : []))
  // A missing value is null; an empty array sorts below null.
  if (open.length === 0) return [here.map((place, index) => (done.has(index) ? place.value : (place.value ?? null)))]
  if (new Set(open.map((index) => here[index]!.prefix)).size > 1) throw new ParallelArrays()
  const array = here[open[0]!]!.value as Plain[]
  const elements: (Plain | undefined)[] = array.length === 0 ? [undefined] : array
  return elements.flatMap((element) => {
    const finished = new Set(done)
    const next = here.map((place, index) => {
      if (!open.includes(index)) return place
      if (place.rest.length === 0) {
        finished.add(index)
        return { ...place, value: element }
      }
      // A nested array is not traversed.
      return { ...place, value: Array.isArray(element) ? undefined : element }
    })
    return tuples(next, finished)
  })
}

export type PlainSort = { readonly [path: string]: 1 | -1 }

function compare(
  a: readonly (Plain | undefined)[],
  b: readonly (Plain | undefined)[],
  directions: readonly number[],
): number {
  for (let i = 0; i < a.length; i++) {
    const difference = order(a[i], b[i])
    if (difference !== 0) return difference * directions[i]!
  }
  return 0
}

/**
 * Equal documents keep their order.
 * @throws ParallelArrays
 */
export function referenceSort<Value extends Plain>(documents: readonly Value[], sort: PlainSort): Value[] {
  const directions = Object.values(sort)
  const keyed = documents.map((document) => {
    const all = tuples(
      Object.keys(sort).map((path) => ({ value: document, rest: path.split('.'), prefix: '' })),
      new Set(),
    )
    return { document, key: all.reduce((least, each) => (compare(each, least, directions) < 0 ? each : least)) }
  })
  return keyed.sort((a, b) => compare(a.key, b.key, directions)).map(({ document }) => document)
}
