/** Compares the figures of all forms of a report. */
import { csvFiles, reportOf, scenarioPage, textReport, type ScenarioFile, type VariantRun } from '@shardlab/scenario'
import { partsOf, rowsOf, textsOf } from '@shardlab/report/testing'
import type { Test } from 'tap'

const units = ['B', 'KB', 'MB', 'GB', 'TB'] as const

/** With three digits, or as many as there are before the point. */
export function sizeText(bytes: number): string {
  let unit = 0
  let value = bytes
  for (; value >= 1024 && unit < units.length - 1; unit++) value /= 1024
  return `${value >= 100 ? Math.round(value) : Number(value.toPrecision(3))} ${units[unit]}`
}

/** The two largest units. */
function durationText(ms: number): string {
  const seconds = Math.round(ms / 1000)
  const [days, hours, minutes] = [86_400, 3600, 60].map((unit) => Math.floor(seconds / unit)) as [
    number,
    number,
    number,
  ]
  const two = (value: number): string => String(value).padStart(2, '0')
  const [large, small] =
    days > 0
      ? [`${days}d`, hours % 24 === 0 ? '' : ` ${hours % 24}h`]
      : hours > 0
        ? [`${hours}h`, minutes % 60 === 0 ? '' : ` ${two(minutes % 60)}m`]
        : [`${minutes}m`, seconds % 60 === 0 ? '' : ` ${two(seconds % 60)}s`]
  return `${large}${small}`
}

export function checkReports(t: Test, file: ScenarioFile, runs: readonly VariantRun[]): void {
  const [text, page] = [textReport(file, runs), scenarioPage(file, runs)]
  const lines = text.split('\n').map((line) => line.trim().split(/ {2,}/))
  const compared = rowsOf(page, 'Results')
  t.ok(compared.length > 15)
  for (const row of compared)
    t.ok(
      lines.some((line) => line.join('|') === row.join('|')),
      row.join(' | '),
    )
  const row = (label: string): string[] => compared.find(([name]) => name === label)!.slice(1)
  const of = (value: (run: VariantRun) => string): string[] => runs.map(value)
  t.same(
    row('migrations'),
    of(({ result }) => result.migrations.total.toLocaleString('en')),
  )
  t.same(
    row('bytes moved / minimum'),
    of(({ result }) => `${sizeText(result.bytesMoved)} / ${sizeText(result.bytesMovedLeast)}`),
  )
  t.same(
    row('hottest shard'),
    of(({ result }) => `${result.hottest!.shard}, ${(result.hottest!.share * 100).toFixed(1)}%`),
  )
  for (const [i, { result }] of runs.entries()) {
    const { bytes, windows, beganMs, removedMs } = result.drains['shard02']!
    const end = removedMs === null ? 'not removed at the end' : `removed after ${durationText(removedMs - beganMs)}`
    const drain = row('drain of shard02')[i]!
    t.ok(
      drain.startsWith(`${sizeText(bytes)} in `) &&
        drain.endsWith(` and ${windows} window${windows === 1 ? '' : 's'}, ${end}`),
      drain,
    )
    const { bytesInBusiest, bytesPerHour, windows: nights, openMs } = result.balancing
    t.equal(
      row('moved in the busiest balancer window / per open hour')[i],
      bytesInBusiest === 0 ? '–' : `${sizeText(bytesInBusiest)} / ${sizeText(bytesPerHour)}`,
    )
    t.equal(row('balancer windows / open hours')[i], `${nights} / ${openMs / 3_600_000} h`)
    const most = (of: 'sentBytes' | 'receivedBytes'): string => {
      const [id, shard] = Object.entries(result.shards).toSorted(([, a], [, b]) => b[of] - a[of])[0]!
      return `${id} ${sizeText(shard[of])}`
    }
    t.equal(
      row('network, most sent / received by a shard')[i],
      result.bytesMoved === 0 ? '–' : `${most('sentBytes')} / ${most('receivedBytes')}`,
    )
    const { freeBytesPerShard, leastMs } = result.reshardingNeeds['shop.orders']!
    t.equal(
      row('to reshard shop.orders at the end: free disk of each shard / least time')[i],
      `${sizeText(freeBytesPerShard)} / ${durationText(leastMs)}`,
    )
  }
  const tables = partsOf(page, 'table')
    .filter(({ label }) => label === 'Shards at the end')
    .map(textsOf)
  t.equal(tables.length, runs.length)
  for (const [i, { result }] of runs.entries())
    for (const [name, bytes, mostBytes, mostDisk, , moved, chunks, operations, share] of tables[i]!) {
      const id = name!.split(' ')[0]!
      const shard = result.shards[id]!
      t.same(
        [bytes, mostBytes, mostDisk, moved, chunks, operations],
        [
          sizeText(shard.bytes),
          sizeText(shard.peak.bytes),
          sizeText(shard.peak.diskBytes),
          `${sizeText(shard.sentBytes)} / ${sizeText(shard.receivedBytes)}`,
          shard.chunks.toLocaleString('en'),
          shard.operations.toLocaleString('en'),
        ],
        `${result.name}: ${id}`,
      )
      t.ok(
        lines.some(
          (line) => line.join('|') === [name, bytes, mostBytes, mostDisk, chunks, operations, share].join('|'),
        ),
        `${name} in the text`,
      )
    }
  checkTables(t, file, runs)
}

/** JSON and CSV. */
function checkTables(t: Test, file: ScenarioFile, runs: readonly VariantRun[]): void {
  const { variants } = reportOf(file, runs)
  t.same(
    variants.map(({ traceHash }) => traceHash),
    runs.map(({ result }) => result.traceHash),
  )
  const [head, ...rows] = csvFiles(runs)
    .get('results.csv')!
    .trim()
    .split(/\r?\n/)
    .map((line) =>
      [...line.matchAll(/("(?:[^"]|"")*"|[^,]*)(?:,|$)/g)].map(([, cell]) => cell!.replaceAll(/^"|"$/g, '')),
    )
  for (const path of [
    'bytesMoved',
    'migrations.total',
    'orphans.worst',
    'shards.shard01.peak.diskBytes',
    'drains.shard02.bytes',
  ]) {
    const column = head!.indexOf(path)
    t.same(
      rows.map((row) => Number(row[column])),
      variants.map((variant) =>
        path.split('.').reduce<unknown>((value, name) => (value as Record<string, unknown>)[name], variant),
      ),
      path,
    )
  }
}
