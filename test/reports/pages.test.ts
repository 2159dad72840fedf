/**
 * The reports that Shardlab writes, opened in a real Chromium (`CHROMIUM`, default
 * /usr/bin/chromium).
 */
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { chromium, type Browser, type Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { runSwarm, swarmPage } from '@shardlab/scenario'
import { findRoot } from '../architecture/model/repository.js'

const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium'
const options = existsSync(executablePath)
  ? { timeout: 120_000 }
  : { skip: `there is no Chromium at ${executablePath}: install it, or name it in CHROMIUM` }
const wide = { width: 1200, height: 900 }
const sizes = [420, 1100, 1600, wide.width].map((width) => ({ width, height: wide.height }))

const folder = mkdtempSync(join(tmpdir(), 'shardlab-pages-'))
let browser: Browser | null = null
t.teardown(async () => {
  await browser?.close()
  rmSync(folder, { recursive: true })
})

/** Texts of visible figures that are smaller than nine pixels, or beyond the figure. */
const unreadable = `[...document.querySelectorAll('svg text')].flatMap((text) => {
  const svg = text.ownerSVGElement, box = svg.getBoundingClientRect()
  if (box.width === 0 || text.getAttribute('visibility') === 'hidden') return []
  const place = text.getBoundingClientRect()
  const size = (parseFloat(getComputedStyle(text).fontSize) * box.width) / svg.viewBox.baseVal.width
  const isInside = place.left >= box.left - 1 && place.right <= box.right + 1
  return size >= 8.8 && isInside ? [] : [text.textContent + ' ' + size.toFixed(1)]
})`

/** Pairs of visible texts of a figure with less than three pixels between them, or none. */
const overlapping = `[...document.querySelectorAll('svg')].flatMap((svg) => {
  if (svg.getBoundingClientRect().width === 0) return []
  const texts = [...svg.querySelectorAll('text')].filter((text) => text.getAttribute('visibility') !== 'hidden')
  const boxes = texts.map((text) => ({ text: text.textContent, box: text.getBoundingClientRect() }))
  return boxes.flatMap((a, i) => boxes.slice(i + 1)
    .filter((b) => a.box.left < b.box.right + 3 && b.box.left < a.box.right + 3
      && a.box.top < b.box.bottom - 2 && b.box.top < a.box.bottom - 2)
    .map((b) => a.text + ' | ' + b.text))
})`

/** Texts of marks that the line of a mark crosses. */
const crossed = `[...document.querySelectorAll('svg')].flatMap((svg) => {
  if (svg.getBoundingClientRect().width === 0) return []
  const lines = [...svg.querySelectorAll('line.mark')].map((line) => line.getBoundingClientRect())
  return [...svg.querySelectorAll('text.marked')].flatMap((text) => {
    const box = text.getBoundingClientRect()
    const isCrossed = lines.some((line) => box.left + 1 < line.left && line.left < box.right - 1
      && line.top < box.bottom - 2 && box.top + 2 < line.bottom)
    return isCrossed ? [text.textContent] : []
  })
})`

/** Figures and tables that are cut without a bar to scroll them. */
const cut = `[...document.querySelectorAll('svg, table')].flatMap((part) => {
  const box = part.getBoundingClientRect()
  if (box.width === 0 || box.right <= document.documentElement.clientWidth + 1) return []
  for (let at = part.parentElement; at !== null; at = at.parentElement)
    if (['auto', 'scroll'].includes(getComputedStyle(at).overflowX)) return []
  return [part.tagName + ' ' + part.textContent.slice(0, 40)]
})`

/** Opens the file, and checks what holds for every page. */
async function onPage(t: Test, file: string, look: (page: Page) => Promise<void>): Promise<void> {
  browser ??= await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-background-networking'] })
  const page = await browser.newPage({ viewport: wide })
  const wrong: string[] = []
  page.on('pageerror', ({ message }) => wrong.push(message))
  page.on('console', (message) => message.type() === 'error' && wrong.push(message.text()))
  page.on('request', (request) => request.url().startsWith('file:') || wrong.push(request.url()))
  await page.goto(pathToFileURL(file).href)
  for (const size of sizes) {
    await page.setViewportSize(size)
    const overflow = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
    t.equal(overflow, 0, `nothing reaches beyond a page of ${size.width} pixels`)
    t.same(await page.evaluate(unreadable), [], `texts of figures are readable at ${size.width} pixels`)
    t.same(await page.evaluate(overlapping), [], `texts are apart at ${size.width} pixels`)
    t.same(await page.evaluate(crossed), [], `no line crosses the text of a mark at ${size.width} pixels`)
    t.same(await page.evaluate(cut), [], `figures and tables fit or scroll at ${size.width} pixels`)
  }
  await look(page)
  t.same(wrong, [], 'neither errors nor requests to a network')
  await page.close()
}

async function shardlab(...args: string[]): Promise<void> {
  await promisify(execFile)(process.execPath, [join(findRoot(), 'packages/shardlab/bin/shardlab.js'), ...args])
}

t.test('the slider of a simulation report shows the shards at another time', options, async (t) => {
  const file = join(folder, 'simulation.html')
  await shardlab('simulate', 'hot-monotonic-key', '--report', file)
  await onPage(t, file, async (page) => {
    const bars = page.locator('.bars').first()
    const atTheEnd = await bars.innerText()
    await page.locator('input[type=range]').first().fill('0')
    t.not(await bars.innerText(), atTheEnd)
    t.ok((await page.locator('figure svg path').count()) > 0, 'lines are drawn')
    const map = page.locator('figure.owners').first()
    const parts = map.locator('.row').last().locator('rect')
    const widths = () => parts.evaluateAll((rects) => rects.map((rect) => rect.getAttribute('width')))
    const byBytes = await widths()
    await map.locator('button[data-by=keys]').click()
    t.notSame(await widths(), byBytes, 'ranges are as wide as their keys')
  })
})

t.test('the marks of a plan are readable', options, async (t) => {
  const guide = readFileSync(join(findRoot(), 'docs/guides/plan-a-cluster.md'), 'utf8')
  const plan = /```yaml\n(version: 1\n.*?)```/s.exec(guide)![1]!
  const scenario = join(folder, 'plan.yaml')
  // The marks are those of the guide, at hours instead of days: the data, the load and the time
  // after the last mark do not matter here. Ranges move at any hour.
  const small = [
    ['size: 2TB', 'size: 8GB'],
    ['growth: 20GB/d', 'growth: 128MB/h'],
    ['at: 3d 1h', 'at: 3h 3m'],
    ['at: 3d', 'at: 3h'],
    ['at: 10d', 'at: 10h'],
    ['start: "22:00", stop: "06:00"', 'start: "00:00", stop: "23:59"'],
    ['duration: 30d', 'duration: 11h'],
    ['tick: 12h', 'tick: 30m'],
  ] as const
  writeFileSync(
    scenario,
    small.reduce((text, [from, to]) => text.replaceAll(from, to), plan),
  )
  const file = join(folder, 'plan.html')
  await shardlab('simulate', scenario, '--variant', 'region, tenant and order', '--report', file)
  await onPage(t, file, async (page) => {
    t.ok((await page.locator('svg text.marked').count()) > 100, 'marks have texts')
  })
})

t.test('a load report draws latencies and throughput', options, async (t) => {
  const file = join(folder, 'load.html')
  const load = ['--workload', 'route-mix', '--records', '200', '--duration', '2s', '--warm-up', '0s', '--quiet']
  await shardlab('load', '--up', '--shards 2 --runtime inline', ...load, '--html', file)
  await onPage(t, file, async (page) => {
    t.ok((await page.locator('svg path').count()) > 0, 'lines are drawn')
    t.match(await page.locator('body').innerText(), /broadcast|targeted/)
  })
})

t.test("the entries of a failed run's timeline can be filtered", options, async (t) => {
  const file = join(folder, 'swarm.html')
  const report = await runSwarm({ seed: 2, runs: 1, mutation: 'retryDedupeOff', shrink: false, threads: 1 })
  writeFileSync(file, swarmPage(report))
  await onPage(t, file, async (page) => {
    const visible = () => page.locator('tr[data-kind]:not(.hidden)').count()
    const all = await visible()
    const steps = await page.locator('tr[data-kind=step]:not(.hidden)').count()
    await page.locator('input[name=step]').uncheck()
    t.ok(steps > 0)
    t.equal(await visible(), all - steps)
    t.ok((await page.locator('svg.lanes rect.command').count()) > 0, 'commands are drawn')
  })
})
