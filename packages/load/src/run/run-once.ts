import { EndCheck } from '../check/end-check.js'
import { readBack } from '../check/read-back.js'
import {
  readCriticalSections,
  latenciesInCriticalSections,
  type CriticalSection,
} from '../placement/critical-sections.js'
import type { PlacementData } from '../placement/placement.js'
import { readPlacement, samePlacement, unknownPlacement } from '../placement/read-placement.js'
import { CommitPathCounters } from '../placement/commit-paths.js'
import { ShardCounters } from '../placement/shard-counters.js'
import { buildReport } from '../report/build-report.js'
import { messageOf, OptionError } from '../option-error.js'
import type { EndCheckReport, LoadOptions, LoadReport, LostGenerator, Mark } from '../types.js'
import { Schedule } from '../workload/schedule.js'
import { nowUs, sleep } from './clock.js'
import { connectControl, type Control } from './control.js'
import { checkFaults, scheduleFaults, type ScheduledFaults } from './faults.js'
import { Journal } from './journal.js'
import { Lanes } from './lanes.js'
import type { Segment } from './lane.js'
import { loadRecords } from './loader.js'
import { prepareCollection } from './prepare.js'
import { rehearse } from './rehearse.js'
import { ProgressTeller } from './progress.js'
import { resolveLoad, type ResolvedLoad } from './resolve-options.js'
import { newRunId } from './run-id.js'
import { Stopping } from './stopping.js'

const unchecked = (leftOut: EndCheckReport['leftOut']): EndCheckReport => ({
  ...{ ok: null, leftOut, documents: 0, lost: 0, unexpected: 0, doubled: 0, stale: 0, corrupt: 0 },
  ...{ torn: 0, wrongReads: 0 },
  ...{ unknownOutcomes: 0, examples: [] },
})
const intervalSecsMin = 0.1
const intervalsWanted = 200
const settlingUs = 5e6

export async function runOnce(options: LoadOptions, step: string | null = null): Promise<LoadReport> {
  const load = resolveLoad(options)
  const stopping = new Stopping(options)
  stopping.check()
  const control = await connectControl(options.uri, stopping)
  try {
    if (control.client.options.writeConcern?.w === 0)
      throw new OptionError('with w=0 nothing is acknowledged that could be measured or checked: leave it out')
    if (load.engine === 'wire') refuseForWire(control)
    if (control.topology === 'single' && load.workload.operations.some(({ transaction }) => transaction !== null))
      throw new OptionError(
        'a server without a replica set has no transactions: use a sharded cluster or a replica set',
      )
    if (load.faults.length > 0) await checkFaults(control, load.faults)
    return await measure(load, control, options, new ProgressTeller(options.onProgress, step), stopping)
  } finally {
    await stopping.unlessHurried(control.client.close(true))
    stopping.end()
  }
}

async function measure(
  load: ResolvedLoad,
  control: Control,
  options: LoadOptions,
  progress: ProgressTeller,
  stopping: Stopping,
): Promise<LoadReport> {
  const { workload } = load
  const { notLearned } = control
  await stopping.unlessStopped(prepareCollection(control, workload, load.drop))
  await stopping.unlessStopped(rehearse(control, workload))
  progress.begin('load', workload.records)
  await stopping.unlessStopped(loadRecords(control, workload, stopping, (count) => progress.add(count)))
  const reading = readPlacement(control.client, workload.ns, control.isMongos).catch((error: unknown) => {
    notLearned.add("where operations go, and so routing classes and shares (the mongos' config database)", error)
    return unknownPlacement
  })
  const placement = await stopping.unlessStopped(reading)
  const intervalUs = intervalOf(load) * 1e6
  const lostGenerators: LostGenerator[] = []
  const connecting = Lanes.connect(
    load.threads,
    {
      ...{ workload: workload.source, placement, engine: load.engine, uri: options.uri, hosts: control.hosts },
      ...{ concurrency: load.concurrencyMax, pipeline: load.pipeline, intervalUs, check: load.check },
    },
    options.generators === undefined ? undefined : { pool: options.generators, lost: lostGenerators },
  )
  // Generators wait for workers.
  const lanes = await (options.generators === undefined ? connecting : stopping.unlessStopped(connecting))
  const counters = await ShardCounters.connect(control)
  const countersBefore = await counters.read()
  const hasTransactions = workload.operations.some(({ transaction }) => transaction !== null)
  const commitPaths = hasTransactions ? CommitPathCounters.connect(control) : null
  const schedule = new Schedule(workload)
  const phaseMarks: Mark[] = []
  const id = newRunId()
  const startedAt = new Date().toISOString()
  let cycles = 0
  let measuredFrom = 0
  let measuredSinceUs = 0
  let endedUs = 0
  let faults: ScheduledFaults | null = null
  void stopping.stopped.then(() => lanes.stop()).catch(() => {})
  const elapsedSecs = (): number => (measuredSinceUs === 0 ? 0 : Math.max(0, round((nowUs() - measuredSinceUs) / 1e6)))
  const play = async (segment: Omit<Segment, 'cyclesSoFar' | 'startUs' | 'measuredSinceUs'>): Promise<void> => {
    const startUs = nowUs() + lanes.headStartMs * 1000
    if (segment.isMeasured && measuredSinceUs === 0) {
      measuredSinceUs = startUs
      measuredFrom = Math.ceil(cycles / 1000) * 1000
      faults = scheduleFaults(control, load.faults, elapsedSecs)
    }
    schedule.begin(cycles, segment.weights)
    const done = lanes.run({ ...segment, cyclesSoFar: cycles, startUs, measuredSinceUs })
    // Prevent an unhandled rejection when a fault is refused.
    done.catch(() => {})
    cycles = (await stopping.unlessHurried(faults === null ? done : Promise.race([done, faults.failed]))) ?? cycles
  }
  try {
    const first = load.phases[0]!
    if (load.warmUpSecs > 0) {
      progress.begin('warm-up', null)
      const { rate, concurrency } = first
      const steady = { rate: rate === null ? null : steadyOf(rate), concurrency: steadyOf(concurrency) }
      await play({ ...steady, weights: first.mix, isMeasured: false, durationSecs: load.warmUpSecs, operations: null })
    }
    stopping.check()
    const pathsBefore = (await commitPaths?.read()) ?? null
    progress.begin('run', load.phases.length === 1 ? first.operations : null)
    const watch = progress.watch(() => lanes.progress())
    for (const phase of load.phases) {
      if (phase.name !== null) phaseMarks.push({ atSecs: elapsedSecs(), untilSecs: null, text: phase.name })
      await play({ ...phase, weights: phase.mix, isMeasured: true })
      if (stopping.isStopped) break
    }
    endedUs = nowUs()
    watch.stop()
    const interrupted = stopping.isStopped
    if (interrupted) phaseMarks.push({ atSecs: elapsedSecs(), untilSecs: null, text: 'interrupted' })
    if (faults !== null) await stopping.unlessHurried((faults as ScheduledFaults).end())
    const results = await lanes.results()
    // Operations still in flight have no outcome.
    const journal = load.check && !stopping.isHurried ? new Journal(results.map((result) => result.journal!)) : null
    const after = placement.isKnown ? await placementAfter(control, workload.ns, stopping) : unknownPlacement
    const sections =
      journal === null || !control.isMongos
        ? []
        : await stopping.unlessHurried(sectionsSince(control, workload.ns, measuredSinceUs))
    progress.begin('check', null)
    const checked =
      journal === null ? null : check(control, load, schedule, journal, cycles, results, progress, stopping)
    const endCheck = checked === null ? null : await stopping.unlessHurried(checked)
    return buildReport({
      ...{ load, control, options, placement, results, lostGenerators, id, startedAt, interrupted },
      commitPaths: {
        before: pathsBefore,
        after: (pathsBefore === null ? null : await stopping.unlessHurried(commitPaths!.read())) ?? null,
      },
      endCheck: endCheck ?? unchecked(load.check ? 'interrupted' : 'not asked for'),
      marks: withinRun(
        [...phaseMarks, ...((faults as ScheduledFaults | null)?.marks ?? [])],
        round((endedUs - measuredSinceUs) / 1e6),
        load,
      ),
      placementChanged: after !== null && !samePlacement(placement, after),
      durationSecs: (endedUs - measuredSinceUs) / 1e6,
      intervalSecs: intervalUs / 1e6,
      counters: { before: countersBefore, after: (await stopping.unlessHurried(counters.read())) ?? new Map() },
      criticalSection:
        journal === null || sections === null
          ? null
          : latenciesInCriticalSections(sections, schedule, journal, placement, { from: measuredFrom, to: cycles }),
    })
  } finally {
    ;(faults as ScheduledFaults | null)?.stop()
    progress.end()
    await stopping.unlessHurried(Promise.all([lanes.close(), counters.close(), commitPaths?.close()]))
  }
}

async function check(
  control: Control,
  { workload }: ResolvedLoad,
  schedule: Schedule,
  journal: Journal,
  cycles: number,
  results: Awaited<ReturnType<Lanes['results']>>,
  progress: ProgressTeller,
  stopping: Stopping,
): Promise<EndCheckReport> {
  const wrongReads = {
    count: results.reduce((sum, { recorder }) => sum + recorder.wrongReads.count, 0),
    cycles: results.flatMap(({ recorder }) => recorder.wrongReads.cycles).slice(0, 10),
  }
  try {
    const seen = await readBack(
      control,
      workload,
      () => new EndCheck(schedule, journal, cycles),
      (documents) => progress.set(documents),
      stopping,
    )
    return seen.finish(wrongReads)
  } catch (error) {
    return {
      ...unchecked(null),
      ok: false,
      wrongReads: wrongReads.count,
      examples: [`the documents could not be read back: ${messageOf(error)}`],
    }
  }
}

async function sectionsSince(control: Control, ns: string, sinceUs: number): Promise<CriticalSection[]> {
  try {
    return await readCriticalSections(control, ns, sinceUs)
  } catch (error) {
    control.notLearned.add('which operations waited in a critical section (config.changelog)', error)
    return []
  }
}

/** Cuts marks at the end of the operations, and reports faults that were due after it. */
function withinRun(marks: readonly Mark[], endSecs: number, { faults }: ResolvedLoad): Mark[] {
  const late = faults.filter(({ atSecs }) => atSecs >= endSecs)
  return [
    ...marks.map(({ atSecs, untilSecs, text }) => ({
      atSecs,
      untilSecs: untilSecs === null ? null : Math.min(untilSecs, endSecs),
      text,
    })),
    ...late.map(({ text }) => ({
      atSecs: endSecs,
      untilSecs: null,
      text: `${text}: not applied, the operations had ended`,
    })),
  ].sort((a, b) => a.atSecs - b.atSecs)
}

/** null: not readable. A shard may still be restarting. */
async function placementAfter(control: Control, ns: string, stopping: Stopping): Promise<PlacementData | null> {
  const untilUs = nowUs() + settlingUs
  const unlearned = (why: unknown): null => {
    control.notLearned.add('whether chunks moved during the run (config.chunks)', why)
    return null
  }
  for (;;) {
    try {
      return (
        (await stopping.unlessHurried(readPlacement(control.client, ns, control.isMongos))) ?? unlearned('interrupted')
      )
    } catch (error) {
      if (nowUs() > untilUs) return unlearned(error)
      await sleep(500)
    }
  }
}

function refuseForWire({ client, hosts }: Control): void {
  const { credentials, tls, srvHost } = client.options
  const what = credentials !== undefined ? 'sign in' : tls ? 'speak TLS' : null
  if (what !== null) throw new OptionError(`the engine wire does not ${what}: use --engine driver for this server`)
  if (hosts.length === 0)
    throw new OptionError(`the engine wire needs host and port, and ${String(srvHost)} names none`)
}

function intervalOf({ phases }: ResolvedLoad): number {
  const total = phases.reduce((sum, { durationSecs }) => sum + (durationSecs ?? 0), 0)
  const known = phases.every(({ durationSecs }) => durationSecs !== null)
  return known ? Math.max(intervalSecsMin, round(total / intervalsWanted)) : 0.25
}

const steadyOf = (ramp: number | { readonly from: number }): number => (typeof ramp === 'number' ? ramp : ramp.from)
const round = (secs: number): number => Math.round(secs * 1000) / 1000
