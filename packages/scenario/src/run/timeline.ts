import { decode, EJSON, encode, type Document } from '@shardlab/bson'
import { OptionError } from '@shardlab/cluster'
import { isPassing } from '../client/retry-rules.js'
import { isFault } from '../file/rules.js'
import type { TimelineEntry } from '../file/schema.js'
import type { Decision, FailedStep } from '../types.js'
import { boundOf } from './bounds.js'
import { asError, ScenarioError } from './failure.js'
import type { Drains } from './drains.js'
import type { Load } from './load.js'
import type { ScenarioWorld } from './world.js'

/** As an administrator would check whether a shard is empty. */
const drainingCheckMs = 10_000

export class Timeline {
  readonly #world: ScenarioWorld
  readonly #workload: Load
  readonly #drains: Drains
  readonly #beginMs: number
  readonly failedSteps: FailedStep[] = []
  readonly decisions: Decision[] = []
  readonly #open = new Map<TimelineEntry, string>()
  /** Shards that are being or have been removed. */
  readonly #removed = new Set<string>()
  #failure: Error | null = null
  #ended = false

  constructor(world: ScenarioWorld, workload: Load, drains: Drains) {
    this.#world = world
    this.#drains = drains
    this.#workload = workload
    this.#beginMs = world.cluster.now()
  }

  begin(): void {
    for (const entry of this.#world.scenario.timeline) this.#world.cluster.alarm(entry.at, () => this.#play(entry))
  }

  /** Steps that have not completed by now have failed. */
  end(): void {
    this.#ended = true
    for (const [entry, step] of this.#open)
      this.failedSteps.push({ atMs: entry.at, step, error: 'it had not completed when the scenario ended' })
    this.check()
  }

  /** @throws errors of this program, not of the cluster */
  check(): void {
    if (this.#failure !== null) throw this.#failure
  }

  #play(entry: TimelineEntry): void {
    const step = stepText(entry)
    if (!isFault(entry)) this.#note(step)
    this.#open.set(entry, step)
    this.#do(entry).then(
      () => this.#open.delete(entry),
      (error: unknown) => {
        this.#open.delete(entry)
        if (!(error instanceof OptionError || error instanceof ScenarioError)) this.#failure ??= asError(error)
        else if (!this.#ended) {
          this.failedSteps.push({ atMs: entry.at, step, error: error.message })
          this.#note(`${step} failed: ${error.message}`)
        }
      },
    )
  }

  #note(text: string): void {
    this.decisions.push({ atMs: this.#nowMs(), kind: 'timeline', text })
  }

  #nowMs(): number {
    return this.#world.cluster.now() - this.#beginMs
  }

  async #do(entry: TimelineEntry): Promise<void> {
    const { cluster } = this.#world
    if (isFault(entry)) {
      await cluster.faults.applyInBackground(entry.do)
      return
    }
    switch (entry.do) {
      case 'addShard':
        for (let i = 0; i < entry.count; i++) await cluster.addShard()
        return
      case 'removeShard':
        return this.#removeShard(entry.shard)
      case 'addShardToZone':
        return this.#admin({ addShardToZone: entry.shard, zone: entry.zone })
      case 'removeShardFromZone':
        return this.#admin({ removeShardFromZone: entry.shard, zone: entry.zone })
      case 'updateZoneKeyRange':
        return this.#admin({
          updateZoneKeyRange: entry.ns,
          min: boundOf(entry.min),
          max: boundOf(entry.max),
          zone: entry.zone,
        })
      case 'startBalancer':
        return this.#setting('balancer', { $set: { mode: 'full', stopped: false } })
      case 'stopBalancer':
        return this.#setting('balancer', { $set: { mode: 'off', stopped: true } })
      case 'balancerWindow':
        return this.#setting('balancer', { $set: { activeWindow: { start: entry.start, stop: entry.stop } } })
      case 'chunkSize':
        return this.#setting('chunksize', { $set: { value: entry.size / 1024 ** 2 } })
      case 'reshard': {
        const { ns, key, zones, numInitialChunks } = entry
        const bounds = zones?.map(({ min, max, zone }) => ({ min: boundOf(min), max: boundOf(max), zone }))
        return this.#admin({
          reshardCollection: ns,
          key,
          ...(bounds === undefined ? {} : { zones: bounds }),
          ...(numInitialChunks === undefined ? {} : { numInitialChunks }),
        })
      }
      case 'workload':
        this.#workload.setRate(entry.ns, entry.name, entry.rate)
        return
      case 'heal':
        await cluster.faults.healInBackground()
        return
      case 'command':
        if (entry.fails !== undefined) return this.#mustFail(boundOf(entry.command), entry.db, entry.fails)
        return this.#mustReply(await this.#run(boundOf(entry.command), entry.db), entry.answers ?? {})
    }
  }

  /**
   * As an administrator: repeats removeShard, and moves the databases once the shard has no chunks.
   */
  async #removeShard(shard: string): Promise<void> {
    this.#removed.add(shard)
    this.#drains.began(shard, this.#nowMs())
    let [lastError, reply]: [string | null, Document] = [null, {}]
    while (!this.#ended) {
      try {
        reply = await this.#run({ removeShard: shard })
        lastError = null
      } catch (error) {
        if (!(error instanceof FailedCommand && isTemporary(error.code))) throw error
        if (error.message !== lastError) this.#note(`removeShard ${shard} is retried: ${error.message}`)
        lastError = error.message
        reply = {}
      }
      if (reply['state'] === 'completed') {
        this.#note(`${shard} is removed`)
        this.#drains.removed(shard, this.#nowMs())
        return
      }
      const remaining = reply['remaining'] as { chunks: unknown; jumboChunks?: unknown } | undefined
      if (remaining !== undefined && Number(remaining.chunks) === 0)
        for (const db of (reply['dbsToMove'] as string[] | undefined) ?? [])
          await this.#run({
            movePrimary: db,
            to: this.#world.cluster.shards.find((other) => !this.#removed.has(other)),
          })
      await new Promise<void>((resolve) => this.#world.cluster.alarm(drainingCheckMs, resolve))
    }
  }

  #setting(id: string, u: Document): Promise<void> {
    return this.#admin(
      { update: 'settings', updates: [{ q: { _id: id }, u, upsert: true }], writeConcern: { w: 'majority' } },
      'config',
    )
  }

  async #admin(command: Document, db = 'admin'): Promise<void> {
    await this.#run(command, db)
  }

  async #mustFail(command: Document, db: string, code: number): Promise<void> {
    const error = errorOf(await this.#replyTo(command, db))
    if (error === undefined) throw new ScenarioError(`expected an error with code ${code}, but the command succeeded`)
    if (error['code'] !== code)
      throw new ScenarioError(
        `expected an error with code ${code}, but the code was ${String(error['code'])}: ${String(error['errmsg'])}`,
      )
    this.#note(`failed as expected: ${String(error['errmsg'])} (code ${code})`)
  }

  #mustReply(reply: Document, wanted: Readonly<Record<string, unknown>>): void {
    for (const [path, value] of Object.entries(wanted)) {
      const [is, expected] = [valueText(valueAt(reply, path)), valueText(value)]
      if (is !== expected) throw new ScenarioError(`${path} of the reply is ${is}, not ${expected}`)
      this.#note(`replied as expected: ${path} is ${is}`)
    }
  }

  async #run(command: Document, db = 'admin'): Promise<Document> {
    const reply = await this.#replyTo(command, db)
    const error = errorOf(reply)
    if (error !== undefined) throw new FailedCommand(error)
    return reply
  }

  async #replyTo(command: Document, db: string): Promise<Document> {
    return decode(await this.#world.cluster.commandInBackground(encode({ ...command, $db: db })))
  }
}

class FailedCommand extends ScenarioError {
  readonly code: number

  constructor({ errmsg, code }: Document) {
    super(`${String(errmsg)} (code ${String(code)})`)
    this.code = Number(code)
  }
}

/** A member is down for the moment; 133: no suitable member. */
const isTemporary = (code: number): boolean => isPassing(code) || code === 133

function errorOf(reply: Document): Document | undefined {
  return (reply['writeErrors'] as Document[] | undefined)?.[0] ?? (reply['ok'] === 1 ? undefined : reply)
}

function valueAt(reply: Document, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((value, name) => (value as Record<string, unknown> | null | undefined)?.[name], reply)
}

/** Equal values of any numeric type have the same text. */
function valueText(value: unknown): string {
  return value === undefined ? 'missing' : EJSON.stringify(value, { relaxed: true })
}

/** `addShard`, `removeShard shard04`, `crash shard02 for 10m`. */
export function stepText(entry: TimelineEntry): string {
  if (isFault(entry)) return entry.do
  if (entry.do === 'command') return `command ${JSON.stringify(entry.command)}`
  const { at: _at, do: name, ...others } = entry
  const shown = Object.entries(others).flatMap(([setting, value]) => {
    if (value === undefined || (setting === 'count' && value === 1)) return []
    return [
      setting === 'shard'
        ? String(value)
        : `${setting} ${typeof value === 'object' ? JSON.stringify(value) : String(value)}`,
    ]
  })
  return [name, ...shown].join(' ')
}
