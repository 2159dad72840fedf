/** Where the texts of a chart go, so that none covers another. */

/** A character of the page's font at 12 pixels is about so wide; better too wide than too narrow. */
const characterWidth = 7.2
const between = 8

export const textWidth = (text: string): number => text.length * characterWidth

export interface PlacedLabel {
  readonly text: string
  readonly anchor: 'start' | 'end'
  readonly x: number
  /** From 0, the topmost. */
  readonly row: number
}

/**
 * Puts each text beside its upright line: on the side where it has room, in the first row where nothing else is.
 * @param labels by their line's place
 * @param room between which places texts may stand, and in how many rows
 * @returns one for each label; shortened where neither side has the room, null where no row has any
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

/** The ticks of a horizontal axis whose texts, each in the middle below its tick, leave each other room; the first one always. */
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

/** Which lines run, for a quarter of their points or more, where one before them runs: these are drawn with gaps, so that both can be seen. */
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
