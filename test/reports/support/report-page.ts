/** Opens reports in a real Chromium, and checks what holds for all of them. */
import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import type { Page } from 'playwright-core'
import type { Test } from 'tap'
import { accessible, onPage, sizes } from './dashboard-page.js'

/** Remembers the texts that each canvas shows, as they are: `canvas.texts`. */
const recordTexts = `{
  const context = CanvasRenderingContext2D.prototype
  const { fillText, clearRect } = context
  const width = Object.getOwnPropertyDescriptor(HTMLCanvasElement.prototype, 'width')
  Object.defineProperty(HTMLCanvasElement.prototype, 'width', {
    ...width,
    set(value) { this.texts = []; width.set.call(this, value) },
  })
  context.clearRect = function (...area) { this.canvas.texts = []; return clearRect.apply(this, area) }
  context.fillText = function (text, x, y, ...rest) {
    const { a, e, f } = this.getTransform()
    const size = a * parseFloat(/([\\d.]+)px/.exec(this.font)[1])
    const length = a * this.measureText(text).width
    const left = e + a * x - { left: 0, start: 0, center: length / 2, right: length, end: length }[this.textAlign]
    const top = f + a * y - { top: 0, middle: size / 2, bottom: size, alphabetic: 0.8 * size }[this.textBaseline]
    this.canvas.texts.push({ text: String(text), left, top, length, size })
    return fillText.call(this, text, x, y, ...rest)
  }
}`

/** The visible texts of each drawing, with their places on the page. */
const drawings = `(() => {
  const inPage = ({ left, top, right, bottom }) => ({ left, top: top + scrollY, right, bottom: bottom + scrollY })
  return [...document.querySelectorAll('canvas, svg.lanes')].flatMap((drawing) => {
    const frame = drawing.getBoundingClientRect()
    if (frame.width === 0) return []
    const ratio = drawing.width / frame.width
    const drawn = (drawing.texts ?? []).filter(({ text }) => text !== '').map(({ text, left, top, length, size }) => {
      const [x, y] = [frame.left + left / ratio, frame.top + top / ratio]
      return { text, size: size / ratio, ...inPage({ left: x, top: y, right: x + length / ratio, bottom: y + size / ratio }) }
    })
    const elements = [...drawing.querySelectorAll('text'), ...(drawing.closest('.plot')?.querySelectorAll('.marked') ?? [])]
    const texts = elements.map((element) => ({
      text: element.textContent,
      size: parseFloat(getComputedStyle(element).fontSize),
      ...inPage(element.getBoundingClientRect()),
    }))
    return [{ texts: [...drawn, ...texts], left: frame.left, right: frame.right }]
  })
})()`

interface Box {
  readonly left: number
  readonly right: number
}

interface Text extends Box {
  readonly text: string
  /** Pixels. */
  readonly size: number
  readonly top: number
  readonly bottom: number
}

interface Drawn extends Box {
  readonly texts: readonly Text[]
}

/** Texts of marks that the line of a mark crosses. */
const crossed = `[...document.querySelectorAll('.plot')].flatMap((plot) => {
  const lines = [...plot.querySelectorAll('.mark')].map((line) => line.getBoundingClientRect())
  return [...plot.querySelectorAll('.marked')].flatMap((text) => {
    const box = text.getBoundingClientRect()
    const isCrossed = lines.some((line) => box.left + 1 < line.left && line.left < box.right - 1
      && line.top < box.bottom - 2 && box.top + 2 < line.bottom)
    return isCrossed ? [text.textContent] : []
  })
})`

/** Drawings and tables that are cut without a bar to scroll them. */
const cut = `[...document.querySelectorAll('canvas, svg, table, pre')].flatMap((part) => {
  const box = part.getBoundingClientRect()
  if (box.width === 0 || box.right <= document.documentElement.clientWidth + 1) return []
  for (let at = part.parentElement; at !== null; at = at.parentElement)
    if (['auto', 'scroll'].includes(getComputedStyle(at).overflowX)) return []
  return [part.tagName + ' ' + part.textContent.slice(0, 40)]
})`

const leastPixels = 9

const unreadable = ({ texts, left, right }: Drawn): string[] =>
  texts
    .filter((text) => text.size < leastPixels || text.left < left - 1 || text.right > right + 1)
    .map(({ text, size }) => `${text} ${size.toFixed(1)}`)

const overlapping = ({ texts }: Drawn): string[] =>
  texts.flatMap((a, i) =>
    texts
      .slice(i + 1)
      .filter((b) => a.left < b.right + 3 && b.left < a.right + 3 && a.top < b.bottom - 2 && b.top < a.bottom - 2)
      .map((b) => `${a.text} | ${b.text}`),
  )

const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'

/** After the sizes of all elements have been noticed, and the drawings are done. */
const settled = 'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))'

export async function onReport(t: Test, file: string, look: (page: Page) => Promise<void>): Promise<void> {
  t.notMatch(readFileSync(file, 'utf8'), / src=|@import/, 'the file needs no other')
  await onPage(
    t,
    pathToFileURL(file).href,
    async (page) => {
      for (const size of [...sizes, { width: 1100, height: 900 }, { width: 1600, height: 900 }]) {
        await page.setViewportSize(size)
        await page.evaluate(settled)
        t.equal(await page.evaluate(overflow), 0, `nothing reaches beyond a page of ${size.width} pixels`)
        const drawn = (await page.evaluate(drawings)) as Drawn[]
        t.ok(drawn.flatMap(({ texts }) => texts).length > 0, 'drawings have texts')
        t.same(drawn.flatMap(unreadable), [], `texts of drawings are readable at ${size.width} pixels`)
        t.same(drawn.flatMap(overlapping), [], `texts are apart at ${size.width} pixels`)
        t.same(await page.evaluate(crossed), [], `no line crosses the text of a mark at ${size.width} pixels`)
        t.same(await page.evaluate(cut), [], `drawings and tables fit or scroll at ${size.width} pixels`)
      }
      await page.setViewportSize(sizes[0]!)
      await look(page)
      await page.emulateMedia({ colorScheme: 'light' })
      await accessible(t, page, 'the report')
      await page.emulateMedia({ colorScheme: 'dark' })
      await accessible(t, page, 'the report in the dark', `{ runOnly: ['color-contrast'] }`)
    },
    recordTexts,
  )
}
