import type { ClusterEvent } from '@shardlab/cluster'
import { failedExpectations } from '../file/expectation.js'
import type { Scenario } from '../file/parse.js'
import type { Decision, Sample, ShardSample, VariantResult, VariantRun } from '../types.js'
import { MeasuredWorkload } from '../measured/measured-workload.js'
import { CustomPolicy, type PolicyLimits } from '../policy/custom-policy.js'
import { InterruptedSimulation } from './failure.js'
import { imbalanceOver, operationImbalance, rounded } from './imbalance.js'
import { Movements } from './movements.js'
import { Routed } from './routed.js'
import { Sampler } from './sampler.js'
import { Timeline } from './timeline.js'
import type { Load } from './load.js'
import { Workload } from './workload.js'
import { isMeasured, ScenarioWorld } from './world.js'

const samplesByDefault = 200
const loadingShare = 0.2

const watched: readonly ClusterEvent['type'][] = [
  'routed',
  'migration',
  'balancer-round',
  'split',
  'merge',
  'jumbo',
  'fault-applied',
  'fault-healed',
  'log',
]

export interface RunLimits {
  readonly policy?: PolicyLimits
  /** Checked at every look at the cluster. */
  readonly isStopped?: () => boolean
}

/**
 * @throws OptionError if the policy or a file of key values cannot be read
 * @throws ScenarioError if the cluster cannot be set up as the scenario says, or the policy decides
 * something impossible
 * @throws InterruptedSimulation if stopped before its start
 * @throws SimulationFailedError with the seed, if a member of the cluster fails an assertion
 */
export async function runVariant(
  scenario: Scenario,
  onProgress: (share: number) => void = () => {},
  { policy: policyLimits, isStopped = () => false }: RunLimits = {},
): Promise<VariantRun> {
  const realMs = performance.now()
  // Load before the simulation: waiting for a disk would make it nondeterministic.
  const policy = scenario.policy === undefined ? null : await CustomPolicy.load(scenario.policy, policyLimits)
  const onLoaded = (share: number): void => {
    if (isStopped()) throw new InterruptedSimulation()
    onProgress(share * loadingShare)
  }
  onLoaded(0)
  const world = await ScenarioWorld.create(scenario, onLoaded, policy?.decide)
  const { cluster } = world
  const namespaces = scenario.collections.map(({ ns }) => ns)
  const beginMs = cluster.now()
  const [routed, movements] = [new Routed(namespaces), new Movements(namespaces, beginMs)]
  cluster.watch(watched)
  cluster.onEvent(routed.onEvent)
  cluster.onEvent(movements.onEvent)
  const workload: Load = isMeasured(scenario)
    ? new MeasuredWorkload(world, scenario, routed)
    : new Workload(world, scenario)
  const timeline = new Timeline(world, workload)
  const sampler = new Sampler(world, routed, workload)
  try {
    await sampler.sample()
    timeline.begin()
    workload.begin()
    const { duration } = scenario
    const tick = scenario.tick ?? Math.max(1000, duration / samplesByDefault)
    let at = 0
    while (at < duration && !isStopped()) {
      const next = Math.min(duration, at + tick)
      await cluster.advance(next - at)
      at = next
      await sampler.sample()
      workload.check()
      timeline.check()
      policy?.check()
      onProgress(loadingShare + (1 - loadingShare) * (at / duration))
    }
    const played = at < duration ? { ...scenario, duration: at, expect: [] } : scenario
    workload.end()
    if (played === scenario) timeline.end()
    const { samples } = sampler
    const result = resultOf({
      scenario: played,
      movements,
      routed,
      workload,
      timeline,
      samples,
      traceHash: cluster.traceHash(),
    })
    const decisions = [...movements.decisions, ...timeline.decisions].sort(
      (a: Decision, b: Decision) => a.atMs - b.atMs,
    )
    const interrupted = played === scenario ? {} : ({ interrupted: true } as const)
    return { result, samples, decisions, tookMs: performance.now() - realMs, ...interrupted }
  } finally {
    await cluster.faults.heal()
    await cluster.stop()
  }
}

interface Findings {
  readonly scenario: Scenario
  readonly movements: Movements
  readonly routed: Routed
  readonly workload: Load
  readonly timeline: Timeline
  readonly samples: readonly Sample[]
  readonly traceHash: string
}

function resultOf({ scenario, movements, routed, workload, timeline, samples, traceHash }: Findings): VariantResult {
  const bytes = imbalanceOver(samples, (shard) => shard.bytes)
  const last = samples.at(-1)!
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
    },
    migrations: movements.migrations(),
    splits: movements.splits,
    merges: movements.merges,
    bytesMoved: movements.bytesMoved,
    bytesMovedLeast: movements.bytesMovedLeast,
    convergedAtMs: movements.convergedAtMs,
    jumboChunks: last.jumboChunks,
    orphans: { worst: samples.reduce((most, sample) => Math.max(most, orphansIn(sample)), 0), last: orphansIn(last) },
    criticalSections: movements.criticalSections,
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
    hottest: hottestOf(routed),
    shards: Object.fromEntries(
      Object.entries(last.shards).map(([id, shard]): [string, ShardSample] => [
        id,
        { ...shard, operations: Math.round(routed.perShard.get(id) ?? 0) },
      ]),
    ),
    failedSteps: timeline.failedSteps,
  }
  return {
    ...withoutExpectations,
    failedExpectations: failedExpectations(withoutExpectations, scenario.expect),
    traceHash,
  }
}

const orphansIn = ({ shards }: Sample): number => Object.values(shards).reduce((sum, { orphans }) => sum + orphans, 0)

function hottestOf({ perShard }: Routed): VariantResult['hottest'] {
  const all = [...perShard.values()].reduce((sum, count) => sum + count, 0)
  const [first] = [...perShard].sort(([, a], [, b]) => b - a)
  return first === undefined ? null : { shard: first[0], share: shareOf(first[1], all) }
}

const shareOf = (part: number, all: number): number => (all === 0 ? 0 : rounded(part / all))
