import { escape } from './escape.js'

const width = 860

export function barChart(
  title: string,
  bars: readonly { readonly name: string; readonly value: number; readonly shown: string; readonly tone: string }[],
): string {
  if (bars.length === 0) return ''
  const row = 26
  const tall = 30 + bars.length * row
  const most = Math.max(...bars.map(({ value }) => value), Number.MIN_VALUE)
  // A character is about seven pixels wide.
  const longest = (of: (bar: (typeof bars)[number]) => string): number =>
    7 * Math.max(...bars.map((bar) => of(bar).length))
  const left = Math.min(320, Math.max(90, longest(({ name }) => name) + 20))
  const right = Math.min(340, longest(({ shown }) => shown) + 16)
  const drawn = bars.map(({ name, value, shown, tone }, i) => {
    const top = 28 + i * row
    const length = ((width - left - right) * value) / most
    return `<text class="tick" text-anchor="end" x="${left - 10}" y="${top + 15}">${escape(name)}</text><rect class="${tone}" x="${left}" y="${top + 2}" width="${Math.max(1, length).toFixed(1)}" height="${row - 8}"/><text class="tick" x="${(left + length + 8).toFixed(1)}" y="${top + 15}">${escape(shown)}</text>`
  })
  return `<figure><svg viewBox="0 0 ${width} ${tall}" role="img" aria-label="${escape(title)}"><text class="title" x="0" y="18">${escape(title)}</text>${drawn.join('')}</svg></figure>`
}
