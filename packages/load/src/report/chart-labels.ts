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
 * Puts each text on that side of its vertical line that has room, in the first free row.
 * @param labels in the order of their lines
 * @param room horizontal limits, and the number of rows
 * @returns one per label: shortened if neither side has room, null if no row does
 */
export function placeLabels(
  labels: readonly { readonly x: number; readonly text: string }[],
  room: { readonly from: number; readonly to: number; readonly rows: number },
): (PlacedLabel | null)[] {
  const taken: { row: number; from: number; to: number }[] = []
  const gap = 5
  return labels.map(({ x, text }) => {
    const [left, right] = [x - gap - room.from, room.to - x - gap]
    const anchor = textWidth(text) <= right || right >= left ? 'start' : 'end'
    const fitting = Math.max(1, Math.floor(Math.max(anchor === 'start' ? right : left, 0) / characterWidth))
    const shown = text.length <= fitting ? text : `${text.slice(0, fitting - 1)}…`
    const from = anchor === 'start' ? x + gap : x - gap - textWidth(shown)
    const to = from + textWidth(shown)
    for (let row = 0; row < room.rows; row++) {
      if (taken.some((other) => other.row === row && from < other.to + between && other.from < to + between)) continue
      taken.push({ row, from, to })
      return { text: shown, anchor, x: anchor === 'start' ? x + gap : x - gap, row }
    }
    return null
  })
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
