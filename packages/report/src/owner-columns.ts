/** The horizontal axis of a map of owners: ranges of keys, as wide as their sizes or their keys. */

export interface OwnedChunk {
  /** The lower bound as a text that sorts like the keys, and as relaxed Extended JSON. */
  readonly key: string
  readonly min: string
  readonly shard: string
}

const columnsMax = 300
/** Chunks per instant whose bounds are considered. */
const lookedAtMax = 3000

export interface Columns {
  /** Lower bounds in key order, and as relaxed Extended JSON. */
  readonly bounds: readonly string[]
  readonly texts: readonly string[]
  /** Shares of the axis. */
  readonly bySize: readonly number[]
  /** null: keys are not numbers. */
  readonly byKeys: readonly number[] | null
}

/**
 * An even selection of all bounds if there are too many, and in addition one column for each shard
 * that it would hide at some instant.
 * @param rows the chunks of each instant
 * @param sizes of the chunks of the last one
 */
export function columnsOf(rows: readonly (readonly OwnedChunk[])[], sizes: readonly number[]): Columns {
  const all = new Map(rows.flatMap((chunks) => thinned(chunks, lookedAtMax).map(({ key, min }) => [key, min])))
  const chosen = new Set(thinned([...all.keys()].sort(compare), columnsMax))
  for (const chunks of rows) {
    const shown = new Set(ownersAt([...chosen].sort(compare), chunks))
    for (const [i, { key, min, shard }] of chunks.entries()) {
      if (shown.has(shard)) continue
      shown.add(shard)
      const next = chunks[i + 1]
      for (const bound of next === undefined ? [{ key, min }] : [{ key, min }, next]) {
        chosen.add(bound.key)
        all.set(bound.key, bound.min)
      }
    }
  }
  const bounds = [...chosen].sort(compare)
  const texts = bounds.map((bound) => all.get(bound)!)
  return {
    ...{ bounds, texts },
    bySize: sizesOf(bounds, rows.at(-1) ?? [], sizes),
    byKeys: keysOf(texts.map(firstNumber)),
  }
}

const compare = (a: string, b: string): number => (a < b ? -1 : 1)

/** Includes the first. */
function thinned<T>(all: readonly T[], most: number): readonly T[] {
  const every = Math.ceil(all.length / most)
  return every <= 1 ? all : all.filter((_, i) => i % every === 0)
}

/** Empty where there was no chunk. Refining a key makes bounds longer, including the first. */
export function ownersAt(bounds: readonly string[], chunks: readonly OwnedChunk[]): string[] {
  let at = -1
  return bounds.map((bound) => {
    while (at + 1 < chunks.length && chunks[at + 1]!.key <= bound) at++
    return chunks[Math.max(0, at)]?.shard ?? ''
  })
}

/** The size of a chunk is divided among the columns in it; a column may have several chunks. */
function sizesOf(bounds: readonly string[], chunks: readonly OwnedChunk[], sizes: readonly number[]): number[] {
  const sums = bounds.map(() => 0)
  let column = 0
  for (const [i, { key }] of chunks.entries()) {
    while (column + 1 < bounds.length && bounds[column + 1]! <= key) column++
    const end = chunks[i + 1]?.key
    let to = column + 1
    while (to < bounds.length && (end === undefined || bounds[to]! < end)) to++
    for (let at = column; at < to; at++) sums[at]! += (sizes[i] ?? 0) / (to - column)
  }
  const total = sums.reduce((sum, each) => sum + each, 0)
  return sums.map((sum) => (total === 0 ? 1 / sums.length : sum / total))
}

/** Linear between the first and the last number; columns at the ends get the mean width. */
function keysOf(numbers: readonly (number | null | undefined)[]): number[] | null {
  const finite = numbers.filter((value) => typeof value === 'number')
  const [low, high] = [finite[0], finite.at(-1)]
  if (low === undefined || high === undefined || high <= low || numbers.includes(undefined)) return null
  const end = 1 / numbers.length
  const span = numbers.map((value, i) => {
    const next = numbers[i + 1]
    return typeof value === 'number' && typeof next === 'number' ? (next - value) / (high - low) : end
  })
  const total = span.reduce((sum, each) => sum + each, 0)
  return span.map((each) => each / total)
}

/** The value of the first field, as a number or as the name of an end of the key space. */
const firstValue = /^\{"(?:[^"\\]|\\.)*":(?:(-?\d[\d.eE+-]*)|\{"\$(minKey|maxKey)":)/

/** Of the first field; null: an end of the key space; undefined: not a number. */
function firstNumber(bound: string): number | null | undefined {
  const [, number, end] = firstValue.exec(bound) ?? []
  if (number !== undefined) return Number(number)
  return end === undefined ? undefined : null
}
