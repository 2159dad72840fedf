import { createDeferred } from '@shardlab/actor'
import { TurnLimitError, type ClusterEvent } from '@shardlab/cluster'
import { activitiesOf } from './activities/all.js'
import type { Activity } from './activities/activity.js'
import { Convergence } from './checkers/convergence.js'
import { Elections } from './checkers/elections.js'
import { replicationViolations } from './checkers/replication.js'
import { WrongAnswerError } from './client/errors.js'
import { CoverageCounter } from './coverage-counter.js'
import { Documents } from './documents/documents.js'
import { FaultDriver } from './faults/fault-driver.js'
import { finding } from './finding.js'
import { StaleMembers } from './sets/stale-members.js'
import { namespacesOf } from './timeline/command-text.js'
import { noteEvent, noteStep } from './timeline/cluster-notes.js'
import type { SwarmPlan, SwarmRun } from './types.js'
import { CatalogWatch, committingSteps } from './watch/catalog-watch.js'
import { SwarmWorld, type SwarmWorldOptions } from './world.js'

/** In virtual time; a longer run is stuck. */
const longestMs = 6 * 3_600_000

/** Plays with faults, then healed. Never rejects for failures of the cluster. */
export async function playSwarm(plan: SwarmPlan, options: SwarmWorldOptions): Promise<SwarmRun> {
  const world = await SwarmWorld.create(plan, options)
  const run = new Run(world)
  // Rejections of work that is not awaited.
  const onRejection = (error: unknown): void => world.verdicts.failed('invariants', describe(error))
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
  readonly #stale: StaleMembers
  readonly #convergence: Convergence
  readonly #coverage = new CoverageCounter()
  readonly #elections = new Elections()
  readonly #watch: CatalogWatch
  readonly #beganMs: number

  constructor(world: SwarmWorld) {
    this.#world = world
    this.#beganMs = world.cluster.now()
    this.#documents = new Documents(world)
    this.#activities = activitiesOf(world)
    this.#faults = new FaultDriver(world)
    this.#stale = new StaleMembers(world)
    this.#convergence = new Convergence(world)
    this.#watch = new CatalogWatch(world, this.#documents.namespaces)
  }

  async play(): Promise<void> {
    const { cluster, verdicts, timeline } = this.#world
    cluster.watch(watched)
    cluster.onEvent((event) => this.#note(event))
    await this.#coverage.watch(cluster, ({ address, step, detail }) => {
      if (timeline !== null && !frequentSteps.test(step)) noteStep(timeline, address, step, detail)
      if (committingSteps.has(step)) void this.#watch.look()
    })
    try {
      await this.#withTimeLimit(this.#parts())
      await cluster.stop()
    } catch (error) {
      if (error instanceof WrongAnswerError)
        verdicts.violated('answers', finding(error.message, namespacesOf(error.command).find(isCollection) ?? null))
      else if (error instanceof TurnLimitError) verdicts.failed('answers', this.#unended())
      else verdicts.failed('invariants', describe(error))
    }
  }

  summary(): SwarmRun {
    const { plan, cluster, verdicts, timeline } = this.#world
    return {
      seed: plan.seed,
      plan,
      violations: verdicts.violations,
      traceHash: cluster.traceHash(),
      timeline: timeline?.entries ?? [],
      steps: this.#coverage.steps,
      verbs: this.#coverage.verbs,
      acknowledged: this.#documents.acknowledged,
      unknown: this.#documents.unknown,
      done: Object.fromEntries(this.#activities.flatMap(({ done }) => [...done])),
      virtualMs: cluster.now() - this.#beganMs,
      turns: cluster.turns,
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
    await this.#stale.helpAll()
    // A shard that lacks an index refuses chunks until the activities finish, and repeated
    // migrations would keep the sets from becoming equal.
    await this.#balancer(admin, false)
    await this.#settleSets()
    if (verdicts.hasFailed) return
    for (const activity of this.#activities) await activity.finish()
    await this.#balancer(admin, true)
    // Includes range deletions, which otherwise wait as long as the server keeps orphans.
    await this.#convergence.balance()
    await this.#convergence.wait()
    if (verdicts.hasFailed) return
    await this.#watch.look()
    await this.#documents.check()
    await this.#convergence.inconsistencies()
    await this.#settleSets()
    verdicts.violated('replication', ...(await replicationViolations(this.#world)))
  }

  async #settleSets(): Promise<void> {
    for (const sentence of await this.#world.sets.settle()) this.#world.verdicts.failed('convergence', sentence)
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
    const { cluster, verdicts } = this.#world
    const late = createDeferred<'late'>()
    const alarm = cluster.alarm(longestMs, () => late.resolve('late'))
    // Time passes also while the work waits for nothing that lets it pass.
    const end = await cluster.during(Promise.race([work, late.promise]))
    alarm.cancel()
    if (end !== 'late') return
    verdicts.failed('answers', this.#unended())
    verdicts.violated('convergence', ...(await this.#convergence.unfinished()))
  }

  #unended(): string {
    return `the run did not end; unanswered commands: ${[...this.#world.waiting].join('; ') || 'none'}`
  }

  #note(event: ClusterEvent): void {
    const { timeline, verdicts } = this.#world
    if (timeline !== null) noteEvent(timeline, event)
    if (event.type === 'member-state' && event.to === 'RECOVERING') void this.#stale.help(event.member)
    if (event.type === 'rollback-failed') this.#stale.failedToRollBack(event.member)
    if (event.type === 'rollback') this.#stale.rolledBack(event.member)
    if (event.type === 'election') verdicts.violated('elections', ...this.#elections.seen(event))
  }
}

/** Every run passes these steps all the time. */
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
  'member-state',
  'election',
  'rollback',
  'rollback-failed',
]

const isCollection = (ns: string): boolean => ns.includes('.')

/** With its stack, because it is a defect of a member or a checker. */
function describe(error: unknown): string {
  const { message, stack = '', cause } = error as Error
  const frames = (cause instanceof Error ? (cause.stack ?? '') : stack)
    .split('\n')
    .filter((line) => line.includes('    at '))
  return [message, ...frames.slice(0, 4).map((frame) => frame.trim())].join(' | ')
}
