import { createDeferred, type MutationName } from '@shardlab/actor'
import type { ClusterEvent } from '@shardlab/cluster'
import { activitiesOf } from './activities/all.js'
import type { Activity } from './activities/activity.js'
import { Convergence } from './checkers/convergence.js'
import { CoverageCounter } from './coverage-counter.js'
import { Documents } from './documents/documents.js'
import { FaultDriver } from './faults/fault-driver.js'
import type { CheckerName, SwarmPlan, SwarmRun } from './types.js'
import { CatalogWatch, committingSteps } from './watch/catalog-watch.js'
import { SwarmWorld } from './world.js'

/** In virtual time; a longer run is stuck. */
const longestMs = 6 * 3_600_000

/** Plays with faults, then healed. Never rejects for failures of the cluster. */
export async function playSwarm(plan: SwarmPlan, mutation: MutationName | null = null): Promise<SwarmRun> {
  const world = await SwarmWorld.create(plan, mutation)
  const run = new Run(world)
  // Rejections of work that is not awaited.
  const onRejection = (error: unknown): void => world.verdicts.violated('invariants', describe(error))
  process.on('unhandledRejection', onRejection)
  try {
    await run.play()
  } finally {
    process.off('unhandledRejection', onRejection)
  }
  return run.summary()
}

class Run {
  readonly #world: SwarmWorld
  readonly #documents: Documents
  readonly #activities: readonly Activity[]
  readonly #faults: FaultDriver
  readonly #convergence: Convergence
  readonly #coverage = new CoverageCounter()
  readonly #watch: CatalogWatch
  readonly #beganMs: number

  constructor(world: SwarmWorld) {
    this.#world = world
    this.#beganMs = world.cluster.now()
    this.#documents = new Documents(world)
    this.#activities = activitiesOf(world)
    this.#faults = new FaultDriver(world)
    this.#convergence = new Convergence(world)
    this.#watch = new CatalogWatch(world, this.#documents.namespaces)
  }

  async play(): Promise<void> {
    const { cluster, verdicts } = this.#world
    cluster.watch(watched)
    cluster.onEvent((event) => this.#note(event))
    await this.#coverage.watch(cluster, (step, member) => {
      if (!frequentSteps.test(step)) verdicts.note(`${member} passes ${step}`)
      if (committingSteps.has(step)) void this.#watch.look()
    })
    try {
      await this.#withTimeLimit(this.#parts())
      await cluster.stop()
    } catch (error) {
      verdicts.violated(checkerOf(error), isOfACommand(error) ? (error as Error).message : describe(error))
    }
  }

  summary(): SwarmRun {
    const { plan, cluster, verdicts } = this.#world
    return {
      seed: plan.seed,
      plan,
      violations: verdicts.violations,
      traceHash: cluster.traceHash(),
      journal: verdicts.journal,
      steps: this.#coverage.steps,
      verbs: this.#coverage.verbs,
      acknowledged: this.#documents.acknowledged,
      unknown: this.#documents.unknown,
      done: Object.fromEntries(this.#activities.flatMap(({ done }) => [...done])),
      virtualMs: cluster.now() - this.#beganMs,
    }
  }

  async #parts(): Promise<void> {
    await this.#prepare()
    await this.#withFaults()
    // After a violation the rest is not checked.
    if (this.#world.verdicts.hasFailed) return
    await this.#healed()
  }

  async #prepare(): Promise<void> {
    const admin = this.#world.client('admin')
    await this.#documents.prepare()
    for (const activity of this.#activities) await activity.prepare()
    await this.#balancer(admin, this.#world.plan.balancing)
    await this.#watch.look()
    this.#world.verdicts.note(`prepared: ${JSON.stringify(this.#world.plan)}`)
  }

  async #withFaults(): Promise<void> {
    await Promise.all([
      this.#documents.run(),
      ...this.#activities.map((activity) => activity.run()),
      this.#faults.run(),
    ])
    await this.#faults.heal()
  }

  async #healed(): Promise<void> {
    const { verdicts } = this.#world
    const admin = this.#world.client('healed')
    // Members must first notice which members are available.
    await this.#world.cluster.advance(15_000)
    for (const activity of this.#activities) await activity.finish()
    await this.#balancer(admin, true)
    // Includes range deletions, which otherwise wait as long as the server keeps orphans.
    await this.#convergence.balance()
    await this.#convergence.wait()
    if (verdicts.hasFailed) return
    await this.#watch.look()
    await this.#documents.check()
    await this.#convergence.inconsistencies()
  }

  /** Writes config.settings directly: not every version has commands for it. */
  async #balancer(client: ReturnType<SwarmWorld['client']>, isOn: boolean): Promise<void> {
    const updates = [
      {
        q: { _id: 'balancer' },
        u: { $set: isOn ? { mode: 'full', stopped: false } : { mode: 'off', stopped: true } },
        upsert: true,
      },
    ]
    await client.untilDone({ update: 'settings', updates, writeConcern: { w: 'majority' }, $db: 'config' })
  }

  /** Work that has not completed by then is stuck. */
  async #withTimeLimit(work: Promise<void>): Promise<void> {
    const { cluster, waiting, verdicts } = this.#world
    const late = createDeferred<'late'>()
    const alarm = cluster.alarm(longestMs, () => late.resolve('late'))
    const end = await Promise.race([work, late.promise])
    alarm.cancel()
    if (end !== 'late') return
    verdicts.violated('answers', `the run did not end; unanswered commands: ${[...waiting].join('; ') || 'none'}`)
    verdicts.violated('convergence', ...(await this.#convergence.unfinished()))
  }

  #note(event: ClusterEvent): void {
    const { verdicts } = this.#world
    switch (event.type) {
      case 'fault-applied':
        return verdicts.note(`fault: ${event.fault}`)
      case 'fault-healed':
        return verdicts.note(`healed: ${event.fault}`)
      case 'member':
        return verdicts.note(`${event.member} ${event.state}${event.error === undefined ? '' : `: ${event.error}`}`)
      case 'migration':
        return verdicts.note(
          `migration of ${event.ns} ${event.min} to ${event.max} from ${event.from} to ${event.to}: ${event.stage}`,
        )
      case 'catalog':
        return verdicts.note(`${event.change}: ${event.ns}`)
      case 'split':
        return verdicts.note(`split of ${event.ns} at ${event.points.join(', ')}`)
      case 'merge':
        return verdicts.note(`merge of ${event.ns} ${event.min} to ${event.max}`)
      default:
    }
  }
}

/** Steps that every run passes all the time. */
const frequentSteps = /^mongos\.|\.round\.|\.auto-split\./

const watched: readonly ClusterEvent['type'][] = [
  'fault-applied',
  'fault-healed',
  'member',
  'migration',
  'catalog',
  'split',
  'merge',
  'routed',
]

function checkerOf(error: unknown): CheckerName {
  return isOfACommand(error) ? 'answers' : 'invariants'
}

const isOfACommand = (error: unknown): boolean => (error as Error).name === 'WrongAnswerError'

/** With its stack, because it is a defect of a member or a checker. */
function describe(error: unknown): string {
  const { message, stack = '', cause } = error as Error
  const frames = (cause instanceof Error ? (cause.stack ?? '') : stack)
    .split('\n')
    .filter((line) => line.includes('    at '))
  return [message, ...frames.slice(0, 4).map((frame) => frame.trim())].join(' | ')
}
