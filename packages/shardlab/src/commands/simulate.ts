import { join } from 'node:path'
import { OptionError } from '@shardlab/cluster'
import { reportHtml } from '@shardlab/dashboard/report'
import { suggestion } from '@shardlab/quantities'
import {
  csvFiles,
  decisionsText,
  findScenario,
  listScenarios,
  parseScenario,
  parseSeedSweep,
  reportOf,
  runScenario,
  ScenarioError,
  scenarioPage,
  sweepSeeds,
  sweepText,
  textReport,
  variantJobs,
  type ScenarioFile,
  type VariantRun,
} from '@shardlab/scenario'
import { exitCodes } from '../exit-codes.js'
import { queueOpener } from '../jobs/open-queue.js'
import { handleSignals } from './interruption.js'
import { checkWritable, makeDirectory, save } from './output-file.js'
import type { SimulateOptions } from './simulate-options.js'
import { simulateLine } from './simulate-line.js'

/** @returns the exit code */
export async function simulate(scenario: string | undefined, options: SimulateOptions): Promise<number> {
  if (options.list === true) {
    const scenarios = listScenarios()
    const isJson = options.json !== undefined
    process.stdout.write(isJson ? `${JSON.stringify({ scenarios })}\n` : listText(scenarios))
    return exitCodes.fine
  }
  if (scenario === undefined)
    throw new OptionError(
      typeof options.json === 'string'
        ? `simulate needs a scenario, and --json takes ${options.json} as the name of its file: write --json after the scenario.`
        : 'simulate needs a scenario: a file, or a name from simulate --list.',
    )
  const { path, text } = findScenario(scenario)
  const seeds = sweptSeeds(options)
  const scenarioFile = chosen(parseScenario(text, path), options)
  const file = seeds === null ? scenarioFile : sweepSeeds(scenarioFile, seeds)
  for (const warning of file.warnings) process.stderr.write(`shardlab: warning: ${warning}\n`)
  for (const path of [options.report, options.json]) if (typeof path === 'string') checkWritable(path)
  if (options.csv !== undefined) makeDirectory(options.csv)
  const allowCode = options.allowCode === true
  const queue = queueOpener(variantJobs({ allowCode }), options, (text) => line.print(text))
  const line = simulateLine()
  const interruption = handleSignals(() =>
    line.print('interrupted: the results so far follow; a second Ctrl-C ends at once'),
  )
  interruption.hurry.addEventListener('abort', () => {
    void queue.end().finally(() => process.exit(interruption.exitCode()))
  })
  let runs: VariantRun[]
  try {
    runs = await runScenario(file, line.show, {
      ...{ stop: interruption.stop, allowCode },
      ...(queue.open === undefined ? {} : { queue: queue.open }),
    })
  } catch (error) {
    // Setup errors come from the scenario file, so they are input errors.
    if (error instanceof ScenarioError) throw new OptionError(`${path}: ${error.message}`)
    throw error
  } finally {
    line.end()
    interruption.end()
  }
  if (runs.length === 0) {
    process.stderr.write('shardlab: no results yet: the data were still being loaded.\n')
    return interruption.exitCode()!
  }
  write(file, runs, options, seeds === null ? null : sweepText(scenarioFile, seeds, runs))
  const failures = runs.flatMap(({ result }) => [
    ...result.failedExpectations.map(({ message }) => `${result.name}: ${message}`),
    ...result.failedSteps.map(({ step, error }) => `${result.name}: ${step} failed: ${error}`),
  ])
  for (const failure of failures) process.stderr.write(`shardlab: ${failure}\n`)
  return interruption.exitCode() ?? (failures.length === 0 ? exitCodes.fine : exitCodes.failed)
}

/** null: no sweep. */
function sweptSeeds({ sweep, seed, report, explain }: SimulateOptions): number[] | null {
  if (sweep === undefined) return null
  if (seed !== undefined) throw new OptionError('--sweep sets the seeds: remove --seed')
  if (report !== undefined || explain !== undefined)
    throw new OptionError('--report and --explain show single runs: replace --sweep by --seed for them')
  return parseSeedSweep(sweep)
}

function chosen(file: ScenarioFile, { seed, variant }: SimulateOptions): ScenarioFile {
  for (const name of variant ?? [])
    if (!file.variants.some((each) => each.name === name)) throw new OptionError(unknownVariant(file, name))
  const variants = file.variants.filter(({ name }) => variant === undefined || variant.includes(name))
  return seed === undefined
    ? { ...file, variants }
    : { ...file, seed, variants: variants.map((each) => ({ ...each, seed })) }
}

function unknownVariant({ path, variants }: ScenarioFile, name: string): string {
  const names = variants.map((variant) => variant.name)
  return `${path} has no variant ${name}; ${suggestion(name, names) ?? `use one of ${names.join(', ')}.`}`
}

/** @param sweep the text of a sweep, instead of a table of all variants */
function write(
  file: ScenarioFile,
  runs: readonly VariantRun[],
  { json, explain, report, csv }: SimulateOptions,
  sweep: string | null,
): void {
  const text = `${JSON.stringify(reportOf(file, runs))}\n`
  if (report !== undefined) save(report, reportHtml(scenarioPage(file, runs)))
  if (csv !== undefined) for (const [name, table] of csvFiles(runs)) save(join(csv, name), table)
  if (typeof json === 'string') save(json, text)
  if (json === true) process.stdout.write(text)
  else process.stdout.write(`${sweep ?? textReport(file, runs)}${explain === true ? decisionsText(runs) : ''}`)
}

function listText(scenarios: readonly { readonly name: string; readonly shows: string }[]): string {
  const width = Math.max(0, ...scenarios.map(({ name }) => name.length))
  return scenarios.map(({ name, shows }) => `${name.padEnd(width)}  ${shows}\n`).join('')
}
