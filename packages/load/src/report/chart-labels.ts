/** Estimated for a character of the page's font at 12 pixels; rather too wide. */
const characterWidth = 7.2
const between = 8

export const textWidth = (text: string): number => text.length * characterWidth

export interface PlacedLabel {
  readonly text: string
  readonly anchor: 'start' | 'end'
  readonly x: number
  /** From the top, starting at 0. */
  readonly row: number
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
  room: { readonly from: number; readonly to: number; readonly rows: number },
): (PlacedLabel | null)[] {
  const taken: { row: number; from: number; to: number; line: number }[] = []
  const placed = labels.toReversed().map(({ x, text }) => {
    const sides = sidesOf(x, text, room)
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

const gap = 5

/** The better side first; the other one only if the whole text has room there. */
function sidesOf(
  x: number,
  text: string,
  room: { readonly from: number; readonly to: number },
): (Omit<PlacedLabel, 'row'> & { readonly from: number; readonly to: number })[] {
  const [left, right] = [x - gap - room.from, room.to - x - gap]
  const side = (anchor: 'start' | 'end') => {
    const fitting = Math.max(1, Math.floor(Math.max(anchor === 'start' ? right : left, 0) / characterWidth))
    const shown = text.length <= fitting ? text : `${text.slice(0, fitting - 1)}…`
    const from = anchor === 'start' ? x + gap : x - gap - textWidth(shown)
    return { text: shown, anchor, x: anchor === 'start' ? x + gap : x - gap, from, to: from + textWidth(shown) }
  }
  const isRight = textWidth(text) <= right || right >= left
  const other = side(isRight ? 'end' : 'start')
  return [side(isRight ? 'start' : 'end'), ...(other.text === text ? [other] : [])]
}

/** Keeps ticks whose centred texts do not overlap; always the first. */
export function readableTicks<Tick extends { readonly x: number; readonly text: string }>(
  ticks: readonly Tick[],
): Tick[] {
  const kept: Tick[] = []
  for (const tick of ticks) {
    const last = kept.at(-1)
    if (last === undefined || tick.x - last.x >= (textWidth(tick.text) + textWidth(last.text)) / 2 + between)
      kept.push(tick)
  }
  return kept
}

/**
 * Lines that cover an earlier one for a quarter of their points or more. They are drawn with gaps,
 * so that both are visible.
 */
export function coveringLines(lines: readonly (readonly (readonly [x: number, y: number])[])[]): boolean[] {
  const near = 1.5
  return lines.map((line, i) =>
    lines.slice(0, i).some((earlier) => {
      const yAt = new Map(earlier.map(([x, y]) => [Math.round(x), y]))
      const covered = line.filter(([x, y]) => Math.abs((yAt.get(Math.round(x)) ?? Number.NaN) - y) <= near)
      return covered.length > 0 && covered.length >= line.length / 4
    }),
  )
}
