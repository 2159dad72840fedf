/**
 * A slow, independent evaluator: slices the partition for each document. Values are whole numbers
 * or null.
 */

export interface Row {
  readonly _id: number
  readonly g: string
  readonly t: number
  readonly v: number | null
}

type End = number | 'unbounded' | 'current'

export interface PlainWindow {
  readonly documents?: readonly [End, End]
  readonly range?: readonly [End, End]
}

function offset(end: End, unbounded: number): number {
  return end === 'unbounded' ? unbounded : end === 'current' ? 0 : end
}

function slice(sorted: readonly Row[], index: number, { documents, range }: PlainWindow): Row[] {
  if (documents !== undefined) {
    const [low, high] = [index + offset(documents[0], -Infinity), index + offset(documents[1], Infinity)]
    return sorted.filter((_, at) => at >= low && at <= high)
  }
  if (range === undefined) return [...sorted]
  const here = sorted[index]!.t
  const [low, high] = [here + offset(range[0], -Infinity), here + offset(range[1], Infinity)]
  // 'current' is the row itself: other rows with the same value are not in the window.
  return sorted.filter(
    ({ t }, at) =>
      (range[0] === 'current' ? at >= index : t >= low) && (range[1] === 'current' ? at <= index : t <= high),
  )
}

const numbersOf = (rows: readonly Row[]) => rows.flatMap(({ v }) => (v === null ? [] : [v]))
const total = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0)

export const windowFunctionsOfRows: Readonly<Record<string, (rows: readonly Row[]) => unknown>> = {
  $sum: (rows) => total(numbersOf(rows)),
  $avg: (rows) => (numbersOf(rows).length === 0 ? null : total(numbersOf(rows)) / numbersOf(rows).length),
  $min: (rows) => (numbersOf(rows).length === 0 ? null : Math.min(...numbersOf(rows))),
  $max: (rows) => (numbersOf(rows).length === 0 ? null : Math.max(...numbersOf(rows))),
  $push: (rows) => rows.map(({ v }) => v),
  $first: (rows) => rows[0]?.v ?? null,
  $last: (rows) => rows.at(-1)?.v ?? null,
  $addToSet: (rows) => [...new Set(rows.map(({ v }) => v))].sort((a, b) => (a ?? -99) - (b ?? -99)),
}

/** The results are in the order of `_id`. */
export function referenceWindow(rows: readonly Row[], name: string, window: PlainWindow): unknown[] {
  return rows.map((row) => {
    const sorted = rows.filter(({ g }) => g === row.g).toSorted((a, b) => a.t - b.t || a._id - b._id)
    return windowFunctionsOfRows[name]!(slice(sorted, sorted.indexOf(row), window))
  })
}
