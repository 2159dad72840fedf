import { textWidth } from './chart-labels.js'
import { escape } from './escape.js'

interface Bar {
  readonly name: string
  readonly value: number
  readonly shown: string
  /** CSS class of the colour. */
  readonly tone: string
}

/** Draws for wide and for narrow pages; a page shows the one that fits. */
export function barChart(title: string, bars: readonly Bar[]): string {
  if (bars.length === 0) return ''
  const most = Math.max(...bars.map(({ value }) => value), Number.MIN_VALUE)
  return `<figure>${wide(title, bars, most)}${narrow(title, bars, most)}</figure>`
}

const titleHeight = 28

/** Names to the left of the bars, values to the right. */
function wide(title: string, bars: readonly Bar[], most: number): string {
  const width = 860
  const row = 26
  const longest = (of: (bar: Bar) => string): number => Math.max(...bars.map((bar) => textWidth(of(bar))))
  const left = Math.min(320, Math.max(90, longest(({ name }) => name) + 20))
  const right = Math.min(340, longest(({ shown }) => shown) + 16)
  const drawn = bars.map(({ name, value, shown, tone }, i) => {
    const top = titleHeight + i * row
    const length = ((width - left - right) * value) / most
    return `<text class="tick" text-anchor="end" x="${left - 10}" y="${top + 15}">${escape(name)}</text><rect class="${tone}" x="${left}" y="${top + 2}" width="${lengthText(length)}" height="${row - 8}"/><text class="tick" x="${(left + length + 8).toFixed(1)}" y="${top + 15}">${escape(shown)}</text>`
  })
  return svgOf('large', { width, height: titleHeight + 2 + bars.length * row }, title, drawn)
}

/** Names and values above the bars. */
function narrow(title: string, bars: readonly Bar[], most: number): string {
  const width = 400
  const row = 36
  const titleLines = linesOf(title, width)
  const from = titleHeight + (titleLines.length - 1) * titleLineHeight
  const drawn = bars.map(({ name, value, shown, tone }, i) => {
    const top = from + i * row
    const room = Math.floor((width - textWidth(shown)) / textWidth(' ')) - 2
    const short = name.length <= room ? name : `${name.slice(0, Math.max(1, room - 1))}…`
    return `<text class="tick" x="0" y="${top + 13}">${escape(short)}</text><text class="tick" text-anchor="end" x="${width}" y="${top + 13}">${escape(shown)}</text><rect class="${tone}" x="0" y="${top + 18}" width="${lengthText((width * value) / most)}" height="12"/>`
  })
  return svgOf('small', { width, height: from + 2 + bars.length * row }, title, drawn, titleLines)
}

const titleLineHeight = 18

function svgOf(
  name: 'large' | 'small',
  { width, height }: { readonly width: number; readonly height: number },
  title: string,
  drawn: readonly string[],
  titleLines: readonly string[] = [title],
): string {
  const titles = titleLines.map(
    (line, i) => `<text class="title" x="0" y="${18 + i * titleLineHeight}">${escape(line)}</text>`,
  )
  return `<svg class="${name}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escape(title)}">${titles.join('')}${drawn.join('')}</svg>`
}

const lengthText = (length: number): string => Math.max(1, length).toFixed(1)

/** Titles are larger and bold. */
const titleScale = 1.3

function linesOf(title: string, width: number): string[] {
  const lines = ['']
  for (const word of title.split(' ')) {
    const last = lines.at(-1)!
    const longer = last === '' ? word : `${last} ${word}`
    if (last === '' || textWidth(longer) * titleScale <= width) lines[lines.length - 1] = longer
    else lines.push(word)
  }
  return lines
}
