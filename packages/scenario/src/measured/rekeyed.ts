/**
 * The documents of ranges under another shard key. A field of both keys keeps its values; values of
 * other fields are those of their distributions, because fields are independent of each other.
 */
import type { SizedRange } from '@shardlab/actor'
import type { KeyWeight } from '../keys/key-weights.js'
import type { KeySpace } from './key-space.js'

/** Of a field of a key. */
export interface RekeyedField {
  /** Equal for fields with equal values. */
  readonly name: string
  readonly hashed: boolean
}

export interface NewField extends RekeyedField {
  /** Of documents whose value is not known from the old key. */
  readonly weights: readonly KeyWeight[]
}

/** From `from` to below `to`. */
interface Values {
  readonly from: number
  readonly to: number
}

interface Group {
  readonly known: ReadonlyMap<string, Values>
  documents: number
  bytes: number
}

export interface Rekeying {
  readonly oldFields: readonly RekeyedField[]
  readonly oldSpace: KeySpace
  readonly newFields: readonly NewField[]
  readonly newSpace: KeySpace
}

/**
 * Neither adds nor loses a document or a byte.
 * @param offset from 0 to 1: decides about fractions of documents
 */
export function rekeyed(ranges: readonly SizedRange[], rekeying: Rekeying, offset: number): SizedRange[] {
  const { newFields, newSpace } = rekeying
  const placed: SizedRange[] = []
  let [wanted, given] = [0, 0]
  for (const { known, documents, bytes } of groupsOf(ranges, rekeying)) {
    const fields = newFields.map(({ name, weights }) => ({
      weights: limited(weights, known.get(name)),
      isGrowing: false,
    }))
    const places = newSpace.places(fields)
    let [left, bytesLeft] = [documents, bytes]
    places.forEach(({ x0, y0, z0, x1, y1, z1, weight }, i) => {
      wanted += documents * weight
      const due = i === places.length - 1 ? left : Math.max(0, Math.min(left, Math.floor(wanted + offset) - given))
      if (due === 0) return
      const dueBytes = due === left ? bytesLeft : Math.round((bytesLeft * due) / left)
      placed.push({ x0, y0, z0, x1, y1, z1, documents: due, bytes: dueBytes })
      left -= due
      bytesLeft -= dueBytes
      given += due
    })
  }
  return placed
}

/** Ranges with equal values in the fields of the new key are one. */
function groupsOf(ranges: readonly SizedRange[], rekeying: Rekeying): Iterable<Group> {
  const wanted = new Set(rekeying.newFields.map(({ name }) => name))
  const groups = new Map<string, Group>()
  for (const range of ranges) {
    const known = valuesOf(range, rekeying, wanted)
    const id = [...known].map(([name, { from, to }]) => `${name} ${from} ${to}`).join()
    const group = groups.get(id)
    if (group === undefined) groups.set(id, { known, documents: range.documents, bytes: range.bytes })
    else {
      group.documents += range.documents
      group.bytes += range.bytes
    }
  }
  return groups.values()
}

function valuesOf(
  { x0, y0, z0, x1, y1, z1 }: SizedRange,
  { oldFields, oldSpace }: Rekeying,
  wanted: ReadonlySet<string>,
): Map<string, Values> {
  const known = new Map<string, Values>()
  const ends = [
    [x0, x1],
    [y0, y1],
    [z0, z1],
  ] as const
  for (const [i, { name, hashed }] of oldFields.entries()) {
    const [low, high] = ends[i]!
    if (!Number.isFinite(low)) break
    if (wanted.has(name)) {
      if (!hashed) known.set(name, { from: low, to: high > low ? high : low + 1 })
      else if (low === high) {
        const value = oldSpace.valueOf(low)
        if (value !== undefined) known.set(name, { from: value, to: value + 1 })
      }
    }
    // Documents are spread over this field; later ones have any value.
    if (high > low) break
  }
  return known
}

/** Shares of the weights within the values. */
function limited(weights: readonly KeyWeight[], values: Values | undefined): readonly KeyWeight[] {
  if (values === undefined) return weights
  const { from, to } = values
  if (to - from === 1) return [{ from, to, weight: 1 }]
  const parts = weights.flatMap((each) => {
    const [low, high] = [Math.max(from, each.from), Math.min(to, each.to)]
    return high <= low ? [] : [{ from: low, to: high, weight: (each.weight * (high - low)) / (each.to - each.from) }]
  })
  const sum = parts.reduce((total, { weight }) => total + weight, 0)
  return sum === 0 ? [{ from, to, weight: 1 }] : parts.map((each) => ({ ...each, weight: each.weight / sum }))
}
