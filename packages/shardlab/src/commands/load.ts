import { readFileSync } from 'node:fs'
import {
  compareReports,
  failedExpectations,
  InterruptedError,
  loadPage,
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
import { reportHtml } from '@shardlab/dashboard/report'
import { exitCodes } from '../exit-codes.js'
import { generatorJobs } from '../jobs/generator-kind.js'
import { generatorPool } from '../jobs/generator-pool.js'
import { queueOpener } from '../jobs/open-queue.js'
import { handleSignals } from './interruption.js'
import { loadLine } from './load-line.js'
import type { LoadCommandOptions } from './load-options.js'
import { checkWritable, save } from './output-file.js'
import { startUp, wordsOf } from './start-up.js'

/** @returns the exit code */
export async function load(options: LoadCommandOptions): Promise<number> {
  if (options.compare !== undefined) return compare(options.compare, options)
  const expectations = (options.expect ?? []).map(parseExpectation)
  const startCluster = clusterStarter(options)
  const swept = options.sweep === undefined ? null : parseSweep(options.sweep).of
  const ofCluster = swept === 'shards' || swept === 'mongos'
  if (ofCluster && wordsOf(options.up ?? '').some((word) => word === `--${swept}` || word.startsWith(`--${swept}=`)))
    throw new OptionError(`the sweep sets ${swept}: remove --${swept} from --up`)
  for (const path of [options.json, options.html]) if (typeof path === 'string') checkWritable(path)
  const queue = queueOpener(generatorJobs, options, (text) => line.print(text))
  if (options.generators !== undefined && options.threads !== undefined)
    throw new OptionError('--generators and --threads both say how many threads generate the load: remove one of them')
  if (queue.open !== undefined && options.generators === undefined)
    throw new OptionError('load --nats needs --generators with their number')
  const line = loadLine()
  const interruption = handleSignals(() =>
    line.print('interrupted: checking and reporting what was measured; a second Ctrl-C skips the check'),
  )
  let report: LoadReport
  let cluster: Awaited<ReturnType<NonNullable<typeof startCluster>>> | null = null
  try {
    const generators = queue.open === undefined ? {} : { generators: generatorPool(await queue.open('')) }
    if (startCluster !== undefined && !ofCluster) cluster = await startCluster({})
    report = await runLoad({
      ...loadOptions(options),
      ...generators,
      uri: cluster?.uri ?? options.uri ?? '',
      onProgress: line.show,
      expectations,
      stop: interruption.stop,
      hurry: interruption.hurry,
      ...(ofCluster && startCluster !== undefined ? { startCluster } : {}),
    })
  } catch (error) {
    if (!(error instanceof InterruptedError)) throw error
    process.stderr.write(`shardlab: ${error.message}\n`)
    return interruption.exitCode()!
  } finally {
    line.end()
    await queue.end()
    await cluster?.stop()
    interruption.end()
  }
  write(options, report)
  const checked = [report, ...(report.sweep?.steps.map((step) => step.report) ?? [])]
  const failures = failedExpectations(report, expectations)
  const wrong = checked.find(({ endCheck }) => endCheck.ok === false)?.endCheck
  if (wrong !== undefined)
    failures.push(
      `the end check failed: ${wrong.documents === 0 ? wrong.examples[0] : 'acknowledged writes were lost or changed'}`,
    )
  for (const failure of failures) process.stderr.write(`shardlab: ${failure}\n`)
  const code = interruption.exitCode() ?? (failures.length === 0 ? exitCodes.fine : exitCodes.failed)
  // Requests that were not awaited could keep the process alive.
  if (interruption.hurry.aborted) process.exit(code)
  return code
}

function clusterStarter({ uri, up }: LoadCommandOptions): LoadOptions['startCluster'] {
  if ((uri === undefined) === (up === undefined))
    throw new OptionError('load needs either --uri with a connection string, or --up with options of shardlab up')
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
    transactionReads: options.transactionReads,
    transactionWrites: options.transactionWrites,
    ns: options.ns,
    shardKey: options.shardKey,
    drop: options.drop,
    threads: options.generators ?? options.threads,
    pipeline: options.pipeline,
    check: options.check,
    faults: options.fault,
    sweep: options.sweep,
  }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Omit<
    LoadOptions,
    'uri'
  >
}

function write({ json, html, quiet }: LoadCommandOptions, report: LoadReport): void {
  if (typeof json === 'string') save(json, `${JSON.stringify(report)}\n`)
  if (html !== undefined) save(html, reportHtml(loadPage(report)))
  if (json === true) process.stdout.write(`${JSON.stringify(report)}\n`)
  else if (quiet !== true) process.stdout.write(textReport(report))
}

function compare(files: readonly string[], options: LoadCommandOptions): number {
  const other = Object.keys(options).find((key) => key !== 'compare' && key !== 'check')
  if (other !== undefined)
    throw new OptionError(`--compare reads two reports and measures nothing: remove ${optionName(other)}`)
  if (files.length !== 2) throw new OptionError(`--compare needs two files, and got ${files.length}`)
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

const optionName = (key: string): string => `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
