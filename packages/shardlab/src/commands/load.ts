/** `shardlab load`: a load test of a cluster that is there or that it starts. */
import { readFileSync, writeFileSync } from 'node:fs'
import {
  compareReports,
  failedExpectations,
  htmlReport,
  OptionError,
  parseExpectation,
  parseReport,
  parseSweep,
  runLoad,
  textReport,
  type EngineName,
  type LoadOptions,
  type LoadReport,
} from '@shardlab/load'
import { exitCodes } from '../exit-codes.js'
import { loadLine } from './load-line.js'
import type { LoadCommandOptions } from './load-options.js'
import { startUp } from './start-up.js'

/** Runs the command; resolves with the exit code. */
export async function load(options: LoadCommandOptions): Promise<number> {
  if (options.compare !== undefined) return compare(options.compare)
  const expectations = (options.expect ?? []).map(parseExpectation)
  const startCluster = clusterStarter(options)
  const ofCluster = options.sweep !== undefined && ['shards', 'mongos'].includes(parseSweep(options.sweep).of)
  const line = loadLine()
  let report: LoadReport
  const cluster = startCluster === undefined || ofCluster ? null : await startCluster({})
  try {
    report = await runLoad({
      ...loadOptions(options),
      uri: cluster?.uri ?? options.uri ?? '',
      onProgress: line.show,
      ...(ofCluster && startCluster !== undefined ? { startCluster } : {}),
    })
  } finally {
    line.end()
    await cluster?.stop()
  }
  write(options, report)
  const checked = [report, ...(report.sweep?.steps.map((step) => step.report) ?? [])]
  const failures = failedExpectations(report, expectations)
  if (checked.some(({ endCheck }) => endCheck.ok === false))
    failures.push('the end check failed: not everything that was acknowledged is there')
  for (const failure of failures) process.stderr.write(`shardlab: ${failure}\n`)
  return failures.length === 0 ? exitCodes.fine : exitCodes.failed
}

function clusterStarter({ uri, up }: LoadCommandOptions): LoadOptions['startCluster'] {
  if ((uri === undefined) === (up === undefined))
    throw new OptionError('load needs either --uri, a connection string, or --up, options of shardlab up')
  return up === undefined ? undefined : ({ shards, mongos }) => startUp(up, { shards, mongos })
}

function loadOptions(options: LoadCommandOptions): Omit<LoadOptions, 'uri'> {
  const given = {
    workload: options.workload,
    engine: options.engine as EngineName | undefined,
    rate: options.rate,
    concurrency: options.concurrency,
    durationSecs: options.duration,
    operations: options.operations,
    warmUpSecs: options.warmUp,
    records: options.records,
    seed: options.seed,
    distribution: options.distribution,
    fieldCount: options.fieldCount,
    fieldLength: options.fieldLength,
    ns: options.ns,
    shardKey: options.shardKey,
    drop: options.drop,
    threads: options.threads,
    pipeline: options.pipeline,
    check: options.check,
    faults: options.fault,
    sweep: options.sweep,
  }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Omit<LoadOptions, 'uri'>
}

function write({ json, html, quiet }: LoadCommandOptions, report: LoadReport): void {
  if (typeof json === 'string') save(json, `${JSON.stringify(report)}\n`)
  if (html !== undefined) save(html, htmlReport(report))
  if (json === true) process.stdout.write(`${JSON.stringify(report)}\n`)
  else if (quiet !== true) process.stdout.write(textReport(report))
}

function compare(files: readonly string[]): number {
  if (files.length !== 2) throw new OptionError(`--compare takes two files, not ${files.length}`)
  const [a, b] = files.map((file) => parseReport(read(file), file)) as [LoadReport, LoadReport]
  process.stdout.write(compareReports(a, b, [files[0]!, files[1]!]))
  return exitCodes.fine
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new OptionError(`${path} cannot be read: ${(error as NodeJS.ErrnoException).code ?? String(error)}`)
  }
}

function save(path: string, text: string): void {
  try {
    writeFileSync(path, text)
  } catch (error) {
    throw new OptionError(`${path} cannot be written: ${(error as NodeJS.ErrnoException).code ?? String(error)}`)
  }
}
