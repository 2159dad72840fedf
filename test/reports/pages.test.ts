/** The reports that Shardlab writes, opened in a real Chromium. */
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import type { Locator, Page } from 'playwright-core'
import t from 'tap'
import { reportHtml } from '@shardlab/dashboard/report'
import { runSwarm, swarmPage } from '@shardlab/scenario'
import { findRoot } from '../architecture/model/repository.js'
import { crowdedPage } from './support/crowded-page.js'
import { onPage, options } from './support/dashboard-page.js'
import { onReport } from './support/report-page.js'

const folder = mkdtempSync(join(tmpdir(), 'shardlab-pages-'))
t.teardown(() => rmSync(folder, { recursive: true }))

async function shardlab(...args: string[]): Promise<void> {
  await promisify(execFile)(process.execPath, [join(findRoot(), 'packages/shardlab/bin/shardlab.js'), ...args])
}

/** The colours of a canvas, to see a change. */
const pixelsOf = (canvas: Locator): Promise<string> =>
  canvas.evaluate((element) => (element as unknown as { toDataURL(): string }).toDataURL())

/** Canvases are drawn with the next frame. */
async function untilChanged(canvas: Locator, before: string): Promise<void> {
  while ((await pixelsOf(canvas)) === before);
}

const tableOf = (page: Page, summary: string): Locator =>
  page.locator('details', { has: page.locator('summary', { hasText: summary }) }).first()

t.test('the slider of a simulation report shows the shards at another time', options, async (t) => {
  const file = join(folder, 'simulation.html')
  await shardlab('simulate', 'hot-monotonic-key', '--variant', 'ranged', '--report', file)
  await onReport(t, file, async (page) => {
    const bars = page.locator('.run .bars').first()
    const map = page.locator('canvas.owners').first()
    const [atTheEnd, mapAtTheEnd, sharesAtTheEnd] = [
      await bars.innerText(),
      await pixelsOf(map),
      await map.getAttribute('aria-label'),
    ]
    t.match(sharesAtTheEnd, /^At 5m: shard0\d has \d+ %, shard0\d has/)
    const instants = page.locator('.run').first().locator('.marks .instant')
    const lineAtTheEnd = await instants.first().boundingBox()
    await page.locator('input[type=range]').first().fill('0')
    await page.locator('.instant-slider', { hasText: 'At 0s' }).waitFor()
    t.not(await bars.innerText(), atTheEnd)
    t.not(await map.getAttribute('aria-label'), sharesAtTheEnd)
    await untilChanged(map, mapAtTheEnd)
    t.ok((await instants.first().boundingBox())!.x < lineAtTheEnd!.x - 100, 'charts mark the instant')

    const byBytes = await pixelsOf(map)
    await page.getByRole('button', { name: 'keys' }).first().click()
    await untilChanged(map, byBytes)
    await page.getByText('ranges are as wide as their keys').first().waitFor()
    const all = await pixelsOf(map)
    await page.getByRole('button', { name: 'shard02' }).first().click()
    await untilChanged(map, all)
    t.equal(await page.getByRole('button', { name: 'shard02' }).first().getAttribute('aria-pressed'), 'true')
    await map.hover({ position: { x: 400, y: 35 } })
    await page.locator('figure.owners figcaption', { hasText: /shard01 at 0s, from / }).waitFor()

    const ranges = tableOf(page, 'Ranges at 0s as a table')
    await ranges.locator('summary').click()
    await ranges.locator('tbody tr').first().waitFor()
    t.match(await ranges.locator('tbody').innerText(), /MinKey\s+MaxKey\s+shard01/)
    const values = tableOf(page, 'Bytes owned by each shard as a table')
    await values.locator('summary').click()
    await values.locator('tbody tr').nth(50).waitFor()
    t.match(await values.locator('thead').innerText(), /time since the start\s+shard01\s+shard02\s+shard03/)
    t.match(await values.locator('tbody tr').last().innerText(), /^5m\s+[\d.]+\s+[\d.]+\s+[\d.]+$/)

    const chart = page.locator('figure.lines', { hasText: 'Bytes owned by each shard' }).first()
    await chart.locator('.u-over').hover({ position: { x: 300, y: 100 } })
    await chart.locator('.pointed', { hasText: /^\d+m/ }).waitFor()
    t.match(await chart.locator('.legend .value').allInnerTexts(), [/\d/, /\d/, /\d/], 'values at the pointer')
  })
})

const isLong = process.env['SHARDLAB_LONG'] === '1'
const ofPlan = { ...options, ...(isLong ? {} : { skip: 'simulates eleven hours: SHARDLAB_LONG=1' }) }

t.test('the marks of a plan are readable', ofPlan, async (t) => {
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
    ['start: "22:00", stop: "06:00"', 'start: "00:30", stop: "23:30"'],
    ['duration: 30d', 'duration: 11h'],
    ['tick: 12h', 'tick: 30m'],
  ] as const
  writeFileSync(
    scenario,
    small.reduce((text, [from, to]) => text.replaceAll(from, to), plan),
  )
  const file = join(folder, 'plan.html')
  await shardlab('simulate', scenario, '--variant', 'region, tenant and order', '--report', file)
  await onReport(t, file, async (page) => {
    t.ok((await page.locator('.plot .marked').count()) > 50, 'marks have texts')
    t.ok((await page.locator('.plot .open').count()) > 5, 'windows of the balancer are shaded')
  })
})

t.test('a load report draws latencies and throughput', options, async (t) => {
  const file = join(folder, 'load.html')
  const load = ['--workload', 'route-mix', '--records', '200', '--duration', '2s', '--warm-up', '0s', '--quiet']
  const fault = ['--fault', 'slow disk of shard02 by 2ms at 1s for 500ms']
  await shardlab('load', '--up', '--shards 2 --runtime inline', ...load, ...fault, '--html', file)
  await onReport(t, file, async (page) => {
    const titles = await page.locator('figure.lines figcaption strong').allInnerTexts()
    t.same(titles, [
      ...['Throughput', 'Latency over time', 'By operation: percentiles', 'By routing class: percentiles'],
      'Histogram of all operations, up to p99.9',
    ])
    t.equal(await page.locator('.plot canvas').count(), titles.length, 'lines are drawn')
    t.equal(await page.locator('.plot .band').count(), 2, 'both charts over time show the fault')
    t.match(await page.locator('body').innerText(), /broadcast|targeted/)
    t.equal(await page.locator('.bars li').count(), 2)
  })
})

t.test("the entries of a failed run's timeline can be filtered", options, async (t) => {
  const file = join(folder, 'swarm.html')
  const report = await runSwarm({ seed: 2, runs: 1, mutation: 'retryDedupeOff', shrink: false, threads: 1 })
  writeFileSync(file, reportHtml(swarmPage(report)))
  await onReport(t, file, async (page) => {
    const rows = page.locator('tr[data-kind]')
    const all = await rows.count()
    const steps = await page.locator('tr[data-kind=step]').count()
    await page.locator('input[name=step]').uncheck()
    await page.locator('tr[data-kind=step]').first().waitFor({ state: 'detached' })
    t.ok(steps > 0)
    t.equal(await rows.count(), all - steps)
    t.ok((await page.locator('svg.lanes rect.bar').count()) > 0, 'commands are drawn')
    t.equal(await page.locator('svg.lanes line.bad').count(), 1, 'the violation is a line through all lanes')
  })
})

t.test('a report with many shards, ticks, events and long names is readable', options, async (t) => {
  const file = join(folder, 'crowded.html')
  writeFileSync(file, reportHtml(crowdedPage))
  await onReport(t, file, async (page) => {
    t.equal(await page.locator('.cells svg').count(), 40, 'a cell for each shard')
    t.equal(await page.locator('.plot .marked').count(), 7, 'each event has a text')
    t.equal(await page.locator('.plot .mark').count(), 7)
  })
})

t.test('a report without its script shows the text of the command', options, async (t) => {
  const title = 'a <b> & "c"'
  const file = join(folder, 'text.html')
  const parts = [{ kind: 'heading', level: 1, text: '</script><b>' }] as const
  writeFileSync(file, reportHtml({ shardlabReport: 1, title, text: 'lines of <text>', parts }))
  t.match(readFileSync(file, 'utf8'), '<noscript><pre>lines of &lt;text&gt;</pre></noscript>')
  await onPage(t, pathToFileURL(file).href, async (page) => {
    t.equal(await page.title(), title)
    t.equal(await page.locator('h1').innerText(), '</script><b>', 'texts are not markup')
  })
})
