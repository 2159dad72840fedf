/** Places texts of a chart so that none covers another. */

/** Pixels between two texts. */
const between = 8

/** Pixels of a text in the font of charts. */
export type WidthOf = (text: string) => number

export interface PlacedLabel {
  readonly text: string
  /** The end of the text that is at `x`. */
  readonly anchor: 'start' | 'end'
  readonly x: number
  /** From the top, starting at 0. */
  readonly row: number
}

export interface LabelRoom {
  readonly from: number
  readonly to: number
  readonly rows: number
}

/**
 * Puts each text on that side of its vertical line that has room, in a row in which it covers no
 * other text, and no line crosses it if that is possible. A line extends from the row of its text
 * to the plot below, so rows are filled from the plot upwards, beginning with the last line.
 * @param labels in the order of their lines
 * @param room horizontal limits, and the number of rows
 * @returns one per label: shortened if neither side has room, null if no row does
 */
export function placeLabels(
  labels: readonly { readonly x: number; readonly text: string }[],
  room: LabelRoom,
  widthOf: WidthOf,
): (PlacedLabel | null)[] {
  const taken: { row: number; from: number; to: number; line: number }[] = []
  const placed = labels.toReversed().map(({ x, text }) => {
    const sides = sidesOf(x, text, room, widthOf)
    for (const isStrict of [true, false]) {
      for (const { from, to, ...label } of sides) {
        let lowest = 0
        let highest = room.rows - 1
        for (const other of isStrict ? taken : []) {
          if (from < other.line && other.line < to) lowest = Math.max(lowest, other.row + 1)
          if (other.from < x && x < other.to) highest = Math.min(highest, other.row - 1)
        }
        const covers = (row: number): boolean =>
          taken.some((other) => other.row === row && from < other.to + between && other.from < to + between)
        for (let row = lowest; row <= highest; row++) {
          if (covers(row)) continue
          taken.push({ row, from, to, line: x })
          return { ...label, row }
        }
      }
    }
    return null
  })
  const most = Math.max(0, ...taken.map(({ row }) => row))
  return placed.toReversed().map((label) => (label === null ? null : { ...label, row: most - label.row }))
}

/** Pixels between a line and its text. */
const gap = 5

interface Side extends Omit<PlacedLabel, 'row'> {
  readonly from: number
  readonly to: number
}

/** The better side first; the other one only if the whole text has room there. */
function sidesOf(x: number, text: string, room: LabelRoom, widthOf: WidthOf): Side[] {
  const [left, right] = [x - gap - room.from, room.to - x - gap]
  const side = (anchor: PlacedLabel['anchor']): Side => {
    const shown = shortened(text, anchor === 'start' ? right : left, widthOf)
    const width = widthOf(shown)
    const from = anchor === 'start' ? x + gap : x - gap - width
    return { text: shown, anchor, x: anchor === 'start' ? x + gap : x - gap, from, to: from + width }
  }
  const isRight = widthOf(text) <= right || right >= left
  const other = side(isRight ? 'end' : 'start')
  return [side(isRight ? 'start' : 'end'), ...(other.text === text ? [other] : [])]
}

/** A text, or its beginning with an ellipsis. Only the ellipsis may be wider than the room. */
export function shortened(text: string, room: number, widthOf: WidthOf): string {
  if (widthOf(text) <= room) return text
  let length = text.length - 1
  while (length > 0 && widthOf(`${text.slice(0, length)}…`) > room) length--
  return `${text.slice(0, length)}…`
}

/** Keeps ticks whose centred texts do not overlap; always the first. */
export function readableTicks<Tick extends { readonly x: number; readonly text: string }>(
  ticks: readonly Tick[],
  widthOf: WidthOf,
): Tick[] {
  const kept: Tick[] = []
  for (const tick of ticks) {
    const last = kept.at(-1)
    if (last === undefined || tick.x - last.x >= (widthOf(tick.text) + widthOf(last.text)) / 2 + between)
      kept.push(tick)
  }
  return kept
}
