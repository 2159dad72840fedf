/**
 * Labels are bytes in the order of the strings under a collation, equal for strings that it treats
 * as equal. The platform's collator yields no sort keys, so the first string of each equivalence
 * class gets a label between those of its neighbours. A label never changes.
 */
import sortedBtree from 'sorted-btree'
import type { StringComparator } from '@shardlab/bson'

const BTree = sortedBtree.default
type LabelTree = sortedBtree.default<string, string>

/** Size of a word, the unit of labels. A proper prefix of a label sorts before it. */
const wordBytes = 4
const words = 2 ** 32
/** Distance between labels at either end, where ascending or descending strings are added. */
const step = 2 ** 12

export class StringLabels {
  readonly compare: StringComparator
  readonly #tree: LabelTree

  constructor(compare: StringComparator, tree: LabelTree = new BTree<string, string>(undefined, compare, 64)) {
    this.compare = compare
    this.#tree = tree
  }

  /** As latin1 text. Stores the label of a new class. */
  labelOf(text: string): string {
    const known = this.#tree.get(text)
    if (known !== undefined) return known
    const label = labelBetween(
      this.#tree.nextLowerPair(text)?.[1] ?? null,
      this.#tree.nextHigherPair(text)?.[1] ?? null,
    )
    this.#tree.set(text, label)
    return label
  }

  fork(): StringLabels {
    return new StringLabels(this.compare, this.#tree.clone())
  }
}

/**
 * A label above `low` and below `high`; null: unbounded. One always exists, because no label ends
 * in a word of zeros.
 */
export function labelBetween(low: string | null, high: string | null): string {
  let label = ''
  let below = high
  for (let at = 0; ; at += wordBytes) {
    const from = low === null ? -1 : wordAt(low, at)
    const to = below === null ? words : wordAt(below, at)
    if (to - Math.max(from, 0) >= 2) return label + wordText(wordBetween(from, to))
    const taken = Math.max(from, 0)
    label += wordText(taken)
    // Once the label is below `high`, `high` no longer restricts the following words.
    if (taken < to) below = null
  }
}

function wordBetween(from: number, to: number): number {
  if (from < 0 && to === words) return words / 2
  if (to === words) return from === 0 ? words / 2 : Math.min(from + step, Math.floor((from + to) / 2))
  if (from < 0) return Math.max(to - step, Math.ceil(to / 2))
  return Math.floor((from + to) / 2)
}

function wordAt(label: string, at: number): number {
  if (at >= label.length) return 0
  return (
    ((label.charCodeAt(at) << 24) |
      (label.charCodeAt(at + 1) << 16) |
      (label.charCodeAt(at + 2) << 8) |
      label.charCodeAt(at + 3)) >>>
    0
  )
}

function wordText(word: number): string {
  return String.fromCharCode(word >>> 24, (word >>> 16) & 0xff, (word >>> 8) & 0xff, word & 0xff)
}
