/** The owners of a collection's key space over time. */
import { columnsOf, ownersAt, type OwnedChunk } from './owner-columns.js'

export interface Owners {
  readonly ns: string
  /** Lower bounds of ranges, in key order, as relaxed Extended JSON. */
  readonly bounds: readonly string[]
  /** Widths of the ranges as shares of all: at least one choice. */
  readonly widths: readonly OwnerWidths[]
  /** Places of ranges; `to` is exclusive. */
  readonly zones: readonly { readonly zone: string; readonly from: number; readonly to: number }[]
  /** By instant, neighbours with one owner together. */
  readonly rows: readonly (readonly OwnedRanges[])[]
}

export interface OwnerWidths {
  /** Of the choice, such as `bytes`. */
  readonly name: string
  /** Continues the sentence "ranges are as wide as their". */
  readonly title: string
  readonly shares: readonly number[]
}

/** `shard` is a place; `to` is exclusive. */
export type OwnedRanges = readonly [from: number, to: number, shard: number]

export interface OwnedSpace {
  readonly ns: string
  /** The chunks of each instant, in key order. */
  readonly rows: readonly (readonly OwnedChunk[])[]
  /** Their places are those of ranges. */
  readonly shards: readonly string[]
  /** Keys as {@link OwnedChunk.key}. */
  readonly zones: readonly { readonly zone: string; readonly fromKey: string; readonly toKey: string }[]
  /** Of the chunks of the last instant. */
  readonly sizes: { readonly name: string; readonly title: string; readonly values: readonly number[] }
}

/** undefined: there never was a chunk. */
export function ownersOf({ ns, rows, shards, zones, sizes }: OwnedSpace): Owners | undefined {
  const { bounds, texts, bySize, byKeys } = columnsOf(rows, sizes.values)
  if (bounds.length === 0) return undefined
  const placeOf = new Map(shards.map((shard, place) => [shard, place]))
  const { name, title } = sizes
  return {
    ...{ ns, bounds: texts },
    widths: [
      { name, title, shares: rounded(bySize) },
      ...(byKeys === null ? [] : [{ name: 'keys', title: 'keys', shares: rounded(byKeys) }]),
    ],
    zones: zones.map(({ zone, fromKey, toKey }) => ({ zone, ...rangeOf(bounds, fromKey, toKey) })),
    rows: rows.map((chunks) => rangesOf(ownersAt(bounds, chunks), placeOf)),
  }
}

function rangeOf(bounds: readonly string[], fromKey: string, toKey: string): { from: number; to: number } {
  const from = Math.max(
    0,
    bounds.findLastIndex((bound) => bound <= fromKey),
  )
  const after = bounds.findIndex((bound) => bound >= toKey)
  return { from, to: after === -1 ? bounds.length : Math.max(after, from + 1) }
}

/** @param owners empty where there is no chunk */
function rangesOf(owners: readonly string[], placeOf: ReadonlyMap<string, number>): OwnedRanges[] {
  const ranges: OwnedRanges[] = []
  for (let from = 0; from < owners.length;) {
    let to = from + 1
    while (to < owners.length && owners[to] === owners[from]) to++
    const shard = placeOf.get(owners[from]!)
    if (shard !== undefined) ranges.push([from, to, shard])
    from = to
  }
  return ranges
}

const digits = 5

const rounded = (shares: readonly number[]): number[] => shares.map((share) => Number(share.toPrecision(digits)))
