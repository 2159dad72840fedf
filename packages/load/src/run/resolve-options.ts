/** Every mistake is an OptionError. */
import { readFileSync } from 'node:fs'
import { durationFrom, suggestion } from '@shardlab/quantities'
import { z } from 'zod'
import { distributionNames } from '../data/distributions.js'
import { textLengthMin } from '../data/text.js'
import { OptionError } from '../option-error.js'
import { engineNames, type EngineName, type LoadOptions, type Ramp } from '../types.js'
import { builtInWorkload, builtInWorkloads, transactionWorkloads } from '../workload/built-in.js'
import { parseWorkload } from '../workload/parse.js'
import { workloadSchema, type PhaseSource, type WorkloadSource } from '../workload/schema.js'
import { compileWorkload, WorkloadRuleError, type Workload } from '../workload/workload.js'
import { parseFault, type PlannedFault } from './faults.js'
import { highest } from './pacing.js'

export interface ResolvedPhase {
  /** null: the only phase. */
  readonly name: string | null
  readonly durationSecs: number | null
  readonly operations: number | null
  readonly rate: Ramp | null
  readonly concurrency: Ramp
  readonly mix: Readonly<Record<string, number>> | null
}

export interface ResolvedLoad {
  readonly workload: Workload
  readonly engine: EngineName
  readonly threads: number
  readonly pipeline: number
  readonly warmUpSecs: number
  readonly phases: readonly ResolvedPhase[]
  readonly concurrencyMax: number
  readonly drop: boolean
  readonly check: boolean
  readonly faults: readonly PlannedFault[]
}

const wholeNumber = (least: number, most: number): z.ZodType =>
  z.int('a whole number').min(least, `at least ${least}`).max(most, `at most ${most}`)
const numbers: Readonly<Record<string, z.ZodType>> = {
  durationSecs: z.number('a number').positive('above 0').max(31_536_000, 'at most a year'),
  operations: wholeNumber(1, 1e12),
  warmUpSecs: z.number('a number').min(0, 'at least 0').max(86_400, 'at most a day'),
  records: wholeNumber(1, 2_000_000_000),
  seed: wholeNumber(0, 4_294_967_295),
  fieldCount: wholeNumber(1, 1000),
  fieldLength: wholeNumber(textLengthMin, 8_000_000),
  transactionReads: wholeNumber(0, 100),
  transactionWrites: wholeNumber(0, 100),
  threads: wholeNumber(0, 64),
  pipeline: wholeNumber(1, 10_000),
}
const openConcurrency = 256
const closedConcurrency = 16
const concurrencyHighest = 20_000

export function resolveLoad(options: LoadOptions): ResolvedLoad {
  for (const [name, schema] of Object.entries(numbers)) {
    const value = options[name as keyof LoadOptions]
    const issue = value === undefined ? undefined : schema.safeParse(value).error?.issues[0]
    if (issue !== undefined) throw new OptionError(`${name} is ${String(value)}: it must be ${issue.message}`)
  }
  const engine = options.engine ?? 'driver'
  if (!engineNames.includes(engine))
    throw new OptionError(`engine is "${String(engine)}"; ${oneOf(engine, engineNames)}`)
  const workload = resolveWorkload(options)
  const warmUpSecs = options.warmUpSecs ?? 1
  const phases = resolvePhases(options, workload.phases)
  for (const { rate, concurrency, durationSecs } of phases) {
    const isRamp = typeof concurrency === 'object' || (rate !== null && typeof rate === 'object')
    if (isRamp && durationSecs === null) throw new OptionError('a ramp needs a duration: say how long with --duration')
    for (const [name, ramp] of [
      ['rate', rate],
      ['concurrency', concurrency],
    ] as const) {
      const values = ramp === null ? [] : typeof ramp === 'number' ? [ramp] : [ramp.from, ramp.to]
      const wrong = values.find(
        (value) => !(value > 0) || (name === 'concurrency' && (!Number.isInteger(value) || value > concurrencyHighest)),
      )
      if (wrong !== undefined) {
        throw new OptionError(
          `${name} is ${wrong}: it must be ${name === 'rate' ? 'above 0' : `a whole number from 1 to ${concurrencyHighest}`}`,
        )
      }
    }
  }
  const threads = options.threads ?? (engine === 'driver' ? 0 : 1)
  const fewest = Math.min(...phases.map(({ concurrency }) => highest(concurrency)))
  if (threads > fewest)
    throw new OptionError(`threads is ${threads}, but no more than ${fewest} operations are in flight`)
  if (engine === 'wire' && workload.operations.some(({ transaction }) => transaction !== null))
    throw new OptionError('the engine wire has no sessions, which transactions need: use --engine driver')
  if (engine === 'driver' && (options.pipeline ?? 1) > 1)
    throw new OptionError('pipeline is for the engine wire: add --engine wire')
  const faults = (options.faults ?? []).map(parseFault)
  const endSecs = phases.reduce((sum, { durationSecs }) => sum + (durationSecs ?? Number.POSITIVE_INFINITY), 0)
  const late = faults.find(({ atSecs }) => atSecs >= endSecs)
  if (late !== undefined)
    throw new OptionError(`the fault "${late.text}" is due at ${late.atSecs} s, but the operations take ${endSecs} s`)
  return {
    workload,
    engine,
    threads,
    pipeline: options.pipeline ?? 1,
    warmUpSecs,
    phases,
    concurrencyMax: Math.max(...phases.map(({ concurrency }) => highest(concurrency))),
    drop: options.drop ?? false,
    check: options.check ?? true,
    faults,
  }
}

function resolvePhases(options: LoadOptions, phases: readonly PhaseSource[] | null): ResolvedPhase[] {
  const { durationSecs, operations, rate, concurrency } = options
  const concurrencyOf = (ofPhase: Ramp | undefined, ofRate: Ramp | null): Ramp =>
    ofPhase ?? concurrency ?? (ofRate === null ? closedConcurrency : openConcurrency)
  if (phases !== null) {
    if (durationSecs !== undefined || operations !== undefined) {
      throw new OptionError('the phases of the workload set the duration: leave out --duration and --operations')
    }
    for (const name of ['rate', 'concurrency'] as const) {
      if (options[name] !== undefined && phases.every((phase) => phase[name] !== undefined))
        throw new OptionError(`every phase of the workload sets its own ${name}: leave out --${name}`)
    }
    return phases.map((phase) => {
      const ofRate = phase.rate ?? rate ?? null
      return {
        name: phase.name,
        durationSecs: phase.duration === undefined ? null : durationFrom(phase.duration) / 1000,
        operations: phase.operations ?? null,
        rate: ofRate,
        concurrency: concurrencyOf(phase.concurrency, ofRate),
        mix: phase.mix ?? null,
      }
    })
  }
  return [
    {
      name: null,
      durationSecs: durationSecs ?? (operations === undefined ? 10 : null),
      operations: operations ?? null,
      rate: rate ?? null,
      concurrency: concurrencyOf(undefined, rate ?? null),
      mix: null,
    },
  ]
}

function resolveWorkload(options: LoadOptions): Workload {
  const name = options.workload ?? 'a'
  const shape = {
    fieldCount: options.fieldCount ?? 10,
    fieldLength: options.fieldLength ?? 100,
    reads: options.transactionReads ?? 2,
    writes: options.transactionWrites ?? 2,
  }
  const builtIn = builtInWorkload(name, shape)
  if (builtIn === null && !/[./]/.test(name)) {
    throw new OptionError(
      `workload is "${name}", neither a workload nor the path of a file; ${oneOf(name, builtInWorkloads)}`,
    )
  }
  if (builtIn === null && (options.fieldCount !== undefined || options.fieldLength !== undefined)) {
    throw new OptionError('a workload file defines its records: leave out --field-count and --field-length')
  }
  const ofTransactions = options.transactionReads !== undefined || options.transactionWrites !== undefined
  if (ofTransactions && !transactionWorkloads.includes(name))
    throw new OptionError(
      `${builtIn === null ? 'a workload file defines its transactions' : `the workload ${name} has no transactions`}: leave out --transaction-reads and --transaction-writes, or use --workload transactions`,
    )
  const source = builtIn ?? parseWorkload(readText(name), name).source
  const changed: WorkloadSource = {
    ...source,
    ...(options.records === undefined ? {} : { records: options.records }),
    ...(options.seed === undefined ? {} : { seed: options.seed }),
    ...(options.ns === undefined ? {} : { ns: options.ns }),
    ...(options.shardKey === undefined ? {} : { shardKey: parseShardKey(options.shardKey) }),
    ...(options.distribution === undefined ? {} : withDistribution(source, options.distribution)),
  }
  const result = workloadSchema.safeParse(changed)
  if (!result.success) {
    const { path, message } = result.error.issues[0]!
    throw new OptionError(`${path.map(String).join('.')}: ${message}`)
  }
  try {
    return compileWorkload(result.data)
  } catch (error) {
    if (error instanceof WorkloadRuleError)
      throw new OptionError(`${error.path.map(String).join('.')}: ${error.message}`)
    throw error
  }
}

function withDistribution(source: WorkloadSource, name: string): Partial<WorkloadSource> {
  const distribution = distributionNames.find((known) => known === name)
  if (distribution === undefined) throw new OptionError(`distribution is "${name}"; ${oneOf(name, distributionNames)}`)
  const operations = Object.fromEntries(
    Object.entries(source.operations).map(([key, operation]) => [key, { ...operation, distribution }]),
  )
  return { distribution, operations }
}

function oneOf(given: string, names: readonly string[]): string {
  // The workloads of YCSB have one letter.
  return (given.length < 3 ? null : suggestion(given, names)) ?? `use one of ${names.join(', ')}`
}

/** `_id:hashed`, `customer:1,_id:1`, `none`. */
export function parseShardKey(text: string): WorkloadSource['shardKey'] {
  if (text === 'none') return null
  const fields = text.split(',').map((part) => /^\s*([^:\s]+)\s*:\s*(1|hashed)\s*$/.exec(part))
  if (fields.some((match) => match === null)) {
    throw new OptionError(`shardKey is "${text}": write it as in "_id:hashed", "customer:1,_id:1" or "none"`)
  }
  if (new Set(fields.map((match) => match![1])).size < fields.length)
    throw new OptionError(`shardKey is "${text}": it names a field twice`)
  return Object.fromEntries(
    fields.map((match) => [match![1]!, match![2] === 'hashed' ? ('hashed' as const) : (1 as const)]),
  )
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new OptionError(
      `the workload file ${path} cannot be read: ${(error as NodeJS.ErrnoException).code ?? String(error)}`,
    )
  }
}
