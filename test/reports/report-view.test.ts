/** The dashboard opens the file of a report. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { reportHtml } from '@shardlab/dashboard/report'
import { heading, lineChart, table, type ReportPage } from '@shardlab/report'
import { ShardedCluster } from 'shardlab'
import { accessible, onPage, options, sizes } from './support/dashboard-page.js'

const axis = { label: 'x', format: 'number' } as const
const points = [1, 4, 9].map((y, x) => [x, y] as const)
const report: ReportPage = {
  ...{ shardlabReport: 1, title: 'growth', text: '' },
  parts: [
    heading(2, 'Growth <b>'),
    lineChart({ title: 'Bytes', x: axis, y: axis, series: [{ name: 'shard01', tone: 0, points }] })!,
    { kind: 'details', summary: 'More', isOpen: false, parts: [table('Rows', ['name', '#n'], [['one', '1']])] },
  ],
}

t.test('the dashboard draws the file of a report, and says why it cannot draw another', options, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'shardlab-report-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const [good, newer, other] = ['good.html', 'newer.html', 'other.html'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  writeFileSync(good, reportHtml(report))
  writeFileSync(newer, reportHtml({ ...report, shardlabReport: 2 as 1 }))
  writeFileSync(other, '<!doctype html><p>A page.</p>')
  const cluster = await ShardedCluster.start({ shards: 1, runtime: 'inline', dashboard: true })
  t.teardown(() => cluster.stop())
  await onPage(t, cluster.dashboard!, async (page) => {
    await page.locator('nav a', { hasText: 'Report' }).click()
    const input = page.locator('input[name=report]')
    await input.setInputFiles(other)
    await page
      .locator('.notice.bad', { hasText: 'other.html cannot be shown. It is not the HTML file of a report' })
      .waitFor()
    await input.setInputFiles(newer)
    await page.locator('.notice.bad', { hasText: 'It has the format 2, and this page draws the format 1' }).waitFor()
    await input.setInputFiles(good)
    await page.locator('h2', { hasText: 'Growth <b>' }).waitFor()
    await page.locator('.notice.fine', { hasText: 'good.html is shown.' }).waitFor()
    await page.locator('.plot canvas').waitFor()
    await page.locator('summary', { hasText: 'More' }).click()
    await page.locator('table.report', { hasText: 'one' }).waitFor()
    await page.locator('nav a', { hasText: 'Cluster' }).click()
    await page.locator('h1', { hasText: 'Cluster' }).waitFor()
    await page.locator('nav a', { hasText: 'Report' }).click()
    await page.locator('table.report', { hasText: 'one' }).waitFor()
    await page.locator('.plot canvas').waitFor()
    for (const size of sizes) {
      await page.setViewportSize(size)
      const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
      t.equal(await page.evaluate(overflow), 0, `nothing reaches beyond ${size.width} pixels`)
    }
    await accessible(t, page, 'the report in the dashboard')
  })
})
