import type { ClusterEvent } from '@shardlab/cluster'
import { byName } from '../report/format.js'
import { failedExpectations } from '../file/expectation.js'
import type { Scenario } from '../file/parse.js'
import { shapeResults } from '../routing/shape-results.js'
import type {
  Decision,
  ReplicationResult,
  Sample,
  ShapeResult,
  ShardResult,
  TransactionsResult,
  VariantResult,
  VariantRun,
} from '../types.js'
import { computedEveryMs, MeasuredWorkload } from '../measured/measured-workload.js'
import { checkCode } from '../policy/check-code.js'
import { CustomPolicy, type PolicyLimits } from '../policy/custom-policy.js'
import { InterruptedSimulation } from './failure.js'
import { balancingPeriods } from './balancing-periods.js'
import { Drains } from './drains.js'
import { imbalanceOver, operationImbalance, zoneImbalance } from './imbalance.js'
import { readKeyMaps } from './key-map.js'
import { Movements } from './movements.js'
import { operationShare, shareOf } from './operation-share.js'
import { Replication } from './replication.js'
import { reshardingNeeds } from './resharding-needs.js'
import { Reshardings } from './reshardings.js'
import { Routed } from './routed.js'
import { Sampler } from './sampler.js'
import type { SizePeaks } from './size-peaks.js'
import { Timeline } from './timeline.js'
import { transactionsResult } from './transaction-counts.js'
import type { Load } from './load.js'
import { Workload } from './workload.js'
import { isMeasured, ScenarioWorld } from './world.js'

const samplesByDefault = 200
const loadingShare = 0.2
/** A run reports its progress at least so often. */
const progressSteps = 1000

/** The same on all threads. */
const realMs = (): number => performance.timeOrigin + performance.now()

const watched: readonly ClusterEvent['type'][] = [
  'routed',
  'collection-size',
  'migration',
  'resharding',
  'balancer-round',
  'split',
  'merge',
  'jumbo',
  'fault-applied',
  'fault-healed',
  'election',
  'member-state',
  'step-down',
  'rollback',
  'rollback-failed',
  'replication-lag',
  'log',
]

export interface RunLimits {
  readonly policy?: PolicyLimits
  /** The scenario may run the module of a policy. Default false. */
  readonly allowCode?: boolean
  /** Checked at every look at the cluster. */
  readonly isStopped?: () => boolean
  /** Receives the events of the cluster; until the data is loaded only sizes. */
  readonly onEvent?: (event: ClusterEvent) => void
}

/**
 * @throws OptionError if the policy or a file of key values cannot be read, or the policy is not
 * allowed
 * @throws ScenarioError if the cluster cannot be set up as the scenario says, or the policy decides
 * something impossible
 * @throws InterruptedSimulation if stopped before its start
 * @throws SimulationFailedError with the seed, if a member of the cluster fails an assertion
 */
export async function runVariant(
  scenario: Scenario,
  onProgress: (share: number) => void = () => {},
  { policy: policyLimits, allowCode = false, isStopped = () => false, onEvent }: RunLimits = {},
): Promise<VariantRun> {
  const fromMs = realMs()
  checkCode(scenario, allowCode)
  // Load before the simulation: waiting for a disk would make it nondeterministic.
  const policy = scenario.policy === undefined ? null : await CustomPolicy.load(scenario.policy, policyLimits)
  const onLoaded = (share: number): void => {
    if (isStopped()) throw new InterruptedSimulation()
    onProgress(share * loadingShare)
  }
  onLoaded(0)
  const world = await ScenarioWorld.create(scenario, onLoaded, {
    ...(policy === null ? {} : { policy: policy.decide }),
    ...(onEvent === undefined ? {} : { onEvent }),
  })
  const { cluster } = world
  const namespaces = scenario.collections.map(({ ns }) => ns)
  const beginMs = cluster.now()
  const periods = balancingPeriods(scenario)
  const drains = new Drains(periods)
  const [routed, movements] = [new Routed(namespaces), new Movements(namespaces, beginMs, { drains, periods })]
  cluster.watch(watched)
  cluster.onEvent(routed.onEvent)
  cluster.onEvent(movements.onEvent)
  const reshardings = new Reshardings(beginMs)
  cluster.onEvent(reshardings.onEvent)
  const replication = await Replication.of(world.sets, beginMs)
  cluster.onEvent(replication.onEvent)
  const workload: Load = isMeasured(scenario)
    ? new MeasuredWorkload(world, scenario, routed)
    : new Workload(world, scenario)
  const timeline = new Timeline(world, workload, drains)
  const sampler = new Sampler(world, { routed, workload, movements, replication })
  world.sizes.begin()
  try {
    await sampler.sample()
    timeline.begin()
    workload.begin()
    const { duration } = scenario
    const tick = tickOf(scenario)
    // A sample can take a while.
    const progressStep = duration / progressSteps
    let at = 0
    while (at < duration && !isStopped()) {
      const next = Math.min(duration, at + tick)
      while (at < next) {
        const to = Math.min(next, at + progressStep)
        await cluster.advance(to - at)
        at = to
        onProgress(loadingShare + (1 - loadingShare) * (at / duration))
      }
      await sampler.sample()
      workload.check()
      timeline.check()
      policy?.check()
    }
    const played = at < duration ? { ...scenario, duration: at, expect: [] } : scenario
    workload.end()
    if (played === scenario) timeline.end()
    const { samples } = sampler
    const result = resultOf({
      scenario: played,
      sizes: world.sizes,
      nowMs: cluster.now(),
      drains,
      reshardings,
      movements,
      routed,
      workload,
      timeline,
      samples,
      shapes: await shapeResults(world),
      replication: replication.result(cluster.now()),
      transactions: await transactionsResult(world, workload.transactions),
      traceHash: cluster.traceHash(),
    })
    const decisions = [...movements.decisions, ...replication.decisions, ...timeline.decisions].sort(
      (a: Decision, b: Decision) => a.atMs - b.atMs,
    )
    const interrupted = played === scenario ? {} : ({ interrupted: true } as const)
    const maps = await readKeyMaps(world, samples.at(-1)!)
    return { result, samples, decisions, maps, periods, real: { fromMs, toMs: realMs() }, ...interrupted }
  } finally {
    await cluster.faults.heal()
    await cluster.stop()
  }
}

/** By default a multiple of the interval of a computed load, so that samples divide it evenly. */
function tickOf(scenario: Scenario): number {
  const { tick, duration } = scenario
  const shortest = Math.max(1000, duration / samplesByDefault)
  if (tick !== undefined || !isMeasured(scenario)) return tick ?? shortest
  const intervalMs = computedEveryMs(scenario)
  return Math.ceil(shortest / intervalMs) * intervalMs
}

interface Findings {
  readonly scenario: Scenario
  readonly sizes: SizePeaks
  readonly nowMs: number
  readonly drains: Drains
  readonly reshardings: Reshardings
  readonly movements: Movements
  readonly routed: Routed
  readonly workload: Load
  readonly timeline: Timeline
  readonly samples: readonly Sample[]
  readonly shapes: readonly ShapeResult[]
  readonly transactions: TransactionsResult | null
  readonly replication: ReplicationResult | null
  readonly traceHash: string
}

function resultOf(findings: Findings): VariantResult {
  const { scenario, sizes, drains, reshardings, movements, routed, workload, timeline, samples, shapes, traceHash } =
    findings
  const bytes = imbalanceOver(samples, (shard) => shard.bytes)
  const last = samples.at(-1)!
  const shards = shardResults(findings)
  const withoutExpectations = {
    name: scenario.name,
    emulate: scenario.emulate,
    mode: isMeasured(scenario) ? ('metadata' as const) : ('documents' as const),
    durationMs: scenario.duration,
    imbalance: {
      first: bytes.first.maxToMean,
      worst: bytes.worst.maxToMean,
      last: bytes.last.maxToMean,
      bytes,
      chunks: imbalanceOver(samples, (shard) => shard.chunks),
      operations: operationImbalance(samples),
      zones: zoneImbalance(samples),
    },
    migrations: movements.migrations(),
    splits: movements.splits,
    merges: movements.merges,
    bytesMoved: movements.bytesMoved,
    bytesMovedLeast: movements.bytesMovedLeast,
    convergedAtMs: movements.convergedAtMs,
    blocked: movements.blocked,
    balancing: movements.balancing(scenario.duration),
    reshardings: reshardings.results(findings.nowMs),
    reshardingNeeds: reshardingNeeds(scenario, sizes, last),
    drains: drains.results(),
    jumboChunks: last.jumboChunks,
    orphans: { worst: sizes.mostOrphans, last: orphansIn(last) },
    criticalSections: movements.criticalSections(findings.nowMs),
    operations: {
      total: workload.total,
      failed: workload.failed,
      latencyMs: workload.latencies(),
      errors: workload.errors,
      routed: {
        targeted: shareOf(routed.kinds.targeted, routed.total),
        multi: shareOf(routed.kinds.multi, routed.total),
        broadcast: shareOf(routed.kinds.broadcast, routed.total),
      },
    },
    transactions: findings.transactions,
    replication: findings.replication,
    shapes,
    hottest: hottestOf(shards),
    shards,
    failedSteps: timeline.failedSteps,
  }
  return {
    ...withoutExpectations,
    failedExpectations: failedExpectations(withoutExpectations, scenario.expect),
    traceHash,
  }
}

const orphansIn = ({ shards }: Sample): number => Object.values(shards).reduce((sum, { orphans }) => sum + orphans, 0)

/** Shards that have left the cluster have received operations, too. */
function shardResults({ samples, sizes, movements, routed }: Findings): VariantResult['shards'] {
  const last = samples.at(-1)!
  const ids = [...new Set(samples.flatMap(({ shards }) => Object.keys(shards)))].sort(byName)
  return Object.fromEntries(
    ids.map((id): [string, ShardResult] => {
      const sample = last.shards[id]
      const { sent, received } = movements.transferredBy(id)
      return [
        id,
        {
          ...(sample ?? gone),
          operations: Math.round(routed.perShard.get(id) ?? 0),
          removed: sample === undefined,
          peak: sizes.peakOf(id),
          sentBytes: sent,
          receivedBytes: received,
        },
      ]
    }),
  )
}

const gone = { bytes: 0, orphans: 0, diskBytes: 0, chunks: 0, draining: false, zones: [] } as const

function hottestOf(shards: VariantResult['shards']): VariantResult['hottest'] {
  const [shard] = Object.keys(shards).toSorted((a, b) => shards[b]!.operations - shards[a]!.operations)
  const share = shard === undefined ? 0 : operationShare(shards, shard)
  return share === 0 ? null : { shard: shard!, share }
}
