/**
 * The live stream of a cluster, as docs/reference/live-stream.md describes it. Recorded while it
 * has a reader: events arrive from the runtime, and the catalog is read after events that change it
 * and every second, or less often if that takes long, because zones and settings change without
 * events.
 */
import type { ClusterEvent } from '@shardlab/actor'
import {
  LiveState,
  Readers,
  type Batch,
  type ClusterFacts,
  type Delta,
  type LiveMigration,
  type ReadersOptions,
  type StreamedEvent,
} from '@shardlab/dashboard'
import type { Runtime } from '@shardlab/runtime'
import type { Faults } from '../faults/faults.js'
import { changesState } from './changes-state.js'
import type { ClockMotion } from './clock-player.js'
import { LiveCatalogReader } from './live-catalog.js'
import { LiveMembers } from './live-members.js'
import { newId } from '../new-id.js'
import { OptionError } from '../option-error.js'
import type { WatchedEvents } from '../watched-events.js'

export interface RecordedCluster {
  readonly runtime: Runtime
  readonly faults: Faults
  readonly watched: WatchedEvents
  readonly facts: () => ClusterFacts
}

const lookIntervalMs = 1000
/** Of the time, at most, that looks at everything take: a catalog may have many collections. */
const lookShare = 0.05
const lookIntervalMaxMs = 10_000
/** Between looks after events, because an insert can cause many splits. */
const leastIntervalMs = 100

/** What is read of the catalog after an event: a collection or database, everything, or nothing. */
const partsOfCatalog: Readonly<Record<StreamedEvent['type'], 'ns' | 'all' | null>> = {
  // Of the config server, it decides whether the catalog can be read.
  member: 'all',
  catalog: 'ns',
  split: 'ns',
  merge: 'ns',
  migration: 'ns',
  resharding: 'ns',
  jumbo: 'ns',
  rollback: 'all',
  // Splits and migrations of a round have events of their own.
  'balancer-round': null,
  'range-deleted': null,
  'member-state': null,
  election: null,
  'step-down': null,
  'rollback-failed': null,
  'replication-lag': null,
  'fault-applied': null,
  'fault-struck': null,
  'fault-healed': null,
  limit: null,
  log: null,
}
export class LiveRecorder {
  readonly #cluster: RecordedCluster
  readonly #readers: Readers
  #recording: Recording | null = null
  #clockMotion: ClockMotion = { speed: null, untilMs: null }
  #isClosed = false

  constructor(cluster: RecordedCluster, limits: Pick<ReadersOptions, 'queueMax' | 'leaseMs'> = {}) {
    this.#cluster = cluster
    this.#readers = new Readers({
      snapshot: () => this.#recording!.state.snapshot(),
      abandoned: () => this.#end(),
      overflowed: () => this.#reportOverflow(),
      newId,
      ...limits,
    })
  }

  /**
   * Opens a reader. Resolves with its id; its snapshot is not older than the call.
   * @throws OptionError the cluster has been stopped
   */
  async open(): Promise<string> {
    let recording: Recording
    do {
      recording = this.#recording ??= new Recording(this.#cluster, (delta) => this.#readers.push(delta))
      await recording.look()
      recording.noteClock(this.#clockMotion)
      if (this.#isClosed) throw new OptionError('the cluster has been stopped.')
      // During the wait the last reader may have closed.
    } while (recording !== this.#recording)
    return this.#readers.open()
  }

  get isWatched(): boolean {
    return this.#readers.count > 0
  }

  /** A page moves or plays the manual clock. */
  clockChanged(motion: ClockMotion): void {
    this.#clockMotion = motion
    this.#recording?.noteClock(motion)
  }

  /** As `Readers.next`. */
  next(reader: string, after: number, waitMs: number): Promise<Batch> {
    return this.#readers.next(reader, after, waitMs)
  }

  close(reader: string): void {
    this.#readers.close(reader)
  }

  wakeAll(): void {
    this.#readers.wakeAll()
  }

  /** The cluster has another state, of which no events tell. */
  restored(): void {
    this.#recording?.restored()
  }

  /** Ends the recording. */
  closeAll(): void {
    this.#isClosed = true
    this.#readers.closeAll()
    this.#end()
  }

  #end(): void {
    this.#recording?.end()
    this.#recording = null
  }

  #reportOverflow(): void {
    const { runtime } = this.#cluster
    runtime.emit({
      type: 'limit',
      atMs: runtime.now(),
      member: 'cluster',
      limit: 'live stream',
      value: this.#readers.count,
    })
  }
}

/** From the first reader to the end of the last one. */
class Recording {
  readonly state = new LiveState()
  readonly #cluster: RecordedCluster
  readonly #push: (delta: Delta) => void
  readonly #catalog: LiveCatalogReader
  readonly #members: LiveMembers
  readonly #unsubscribe: () => void
  #timer: NodeJS.Timeout | null = null
  #running: Promise<void> | null = null
  /** Begins when the running one has ended. */
  #next: Promise<void> | null = null
  /** After an event, to come. */
  #soon: NodeJS.Timeout | null = null
  #readsCatalogSoon = false
  /** Collections and databases that the next read of the catalog reads. null: all */
  #changed: Set<string> | null = new Set()
  #lastSoonMs = -Infinity
  #hasEnded = false

  constructor(cluster: RecordedCluster, push: (delta: Delta) => void) {
    this.#cluster = cluster
    this.#push = push
    this.#catalog = new LiveCatalogReader(cluster.runtime)
    this.#members = new LiveMembers(cluster.runtime)
    this.state.apply({ type: 'snapshot', cluster: cluster.facts(), recordedSinceMs: cluster.runtime.now() })
    this.state.apply({ type: 'ready' })
    cluster.watched.set(this, ['operations'])
    this.#unsubscribe = cluster.runtime.onEvent((event) => this.#onEvent(event))
    this.#lookAfter(lookIntervalMs)
  }

  end(): void {
    this.#hasEnded = true
    clearTimeout(this.#timer!)
    if (this.#soon !== null) clearTimeout(this.#soon)
    this.#cluster.watched.set(this, [])
    this.#unsubscribe()
  }

  /** Versions of the catalog may be lower than before, and its content another one. */
  restored(): void {
    this.#catalog.forget()
    this.#members.forgetStates()
    for (const id of this.state.migrations.keys()) this.#add({ type: 'migration-ended', id })
    void this.look()
  }

  noteClock(motion: ClockMotion): void {
    if (this.state.cluster?.clock !== 'manual') return
    this.#add({ type: 'clock', clock: { nowMs: this.#cluster.runtime.now(), ...motion } })
  }

  #lookAfter(ms: number): void {
    const look = async (): Promise<void> => {
      const beganMs = performance.now()
      await this.look()
      if (this.#hasEnded) return
      const shareMs = (performance.now() - beganMs) / lookShare
      const canRead = this.state.catalog.error === null
      this.#lookAfter(canRead ? Math.min(lookIntervalMaxMs, Math.max(lookIntervalMs, shareMs)) : lookIntervalMs)
    }
    this.#timer = setTimeout(() => void look(), ms).unref()
  }

  /**
   * Compares the whole state with the cluster. Resolves when a look that began after the call has
   * ended.
   */
  look(): Promise<void> {
    this.#changed = null
    return this.#lookAtChanges()
  }

  #lookAtChanges(): Promise<void> {
    if (this.#running === null) return this.#begin()
    this.#next ??= this.#running.then(() => this.#begin())
    return this.#next
  }

  #begin(): Promise<void> {
    this.#next = null
    const running = this.#look().finally(() => {
      this.#running = null
    })
    this.#running = running
    return running
  }

  async #look(): Promise<void> {
    await this.#compare()
    if (this.#hasEnded || this.state.cluster?.topology !== 'sharded') return
    const changed = this.#changed
    this.#changed = new Set()
    await this.#readCatalog(changed)
  }

  async #compare(): Promise<void> {
    await this.#members.askStates()
    this.#compareMembers()
    this.#compareFaults()
  }

  /** Faults and members change in the same turn as their events, after them. */
  #lookSoon(event: StreamedEvent): void {
    const part = partsOfCatalog[event.type]
    this.#readsCatalogSoon ||= part !== null
    if (part === 'all') this.#changed = null
    else if (part === 'ns') this.#changed?.add((event as StreamedEvent & { readonly ns: string }).ns)
    if (this.#soon !== null) return
    const delayMs = Math.max(0, this.#lastSoonMs + leastIntervalMs - performance.now())
    this.#soon = setTimeout(() => {
      this.#soon = null
      this.#lastSoonMs = performance.now()
      void (this.#readsCatalogSoon ? this.#lookAtChanges() : this.#compare())
      this.#readsCatalogSoon = false
    }, delayMs).unref()
  }

  async #readCatalog(changed: ReadonlySet<string> | null): Promise<void> {
    const shards = new Set<string>()
    try {
      for await (const delta of this.#catalog.read(changed)) {
        if (delta.type === 'shard') shards.add(delta.shard.id)
        this.#add(delta)
      }
    } catch (error) {
      this.#changed = null
      const { readAtMs } = this.state.catalog
      this.#add({ type: 'catalog', catalog: { readAtMs, error: (error as Error).message } })
      return
    }
    for (const id of this.state.shards.keys()) if (!shards.has(id)) this.#add({ type: 'shard-removed', id })
    const { collections } = this.#catalog
    for (const ns of this.state.collections.keys())
      if (!collections.has(ns)) this.#add({ type: 'collection-removed', ns })
    // A delta for each read would fill the queues of readers with nothing.
    if (this.state.catalog.readAtMs === 0 || this.state.catalog.error !== null)
      this.#add({ type: 'catalog', catalog: { readAtMs: this.#cluster.runtime.now(), error: null } })
  }

  #compareMembers(): void {
    const members = this.#members.all()
    for (const member of members) this.#add({ type: 'member', member })
    const addresses = new Set(members.map(({ address }) => address))
    for (const address of this.state.members.keys())
      if (!addresses.has(address)) this.#add({ type: 'member-removed', address })
  }

  #compareFaults(): void {
    const faults = this.#cluster.faults.list().map(({ id, fault, spec, state, members, beginsAtMs, healsAtMs }) => ({
      ...{ id, fault, verb: spec.verb, state, members, beginsAtMs, healsAtMs },
    }))
    this.#add({ type: 'faults', faults })
  }

  #onEvent(event: ClusterEvent): void {
    if (event.type === 'operations') this.#add({ type: 'operations', operations: event })
    if (!isStreamed(event)) return
    this.#add({ type: 'event', event })
    switch (event.type) {
      case 'member':
        if (event.state !== 'started') this.#members.noteEnd(event.member)
        this.#compareMembers()
        break
      case 'member-state':
        this.#members.noteState(event.member, event.to)
        this.#compareMembers()
        break
      case 'migration':
        this.#addMigration(event)
        break
      case 'jumbo':
        this.#catalog.noteJumbo(event.ns)
        break
      default:
    }
    if (event.type !== 'log') this.#lookSoon(event)
  }

  #addMigration(event: Extract<StreamedEvent, { type: 'migration' }>): void {
    const { id, ns, from, to, min, max, stage, documents, bytes } = event
    if (stage === 'committed' || stage === 'aborted') {
      if (this.state.migrations.has(id)) this.#add({ type: 'migration-ended', id })
      return
    }
    const [fromKey, toKey] = [this.#catalog.keyOf(ns, min), this.#catalog.keyOf(ns, max)]
    const keys = { fromKey: fromKey ?? '', toKey: toKey ?? '' }
    const migration: LiveMigration = { id, ns, from, to, min, max, ...keys, stage, documents, bytes }
    this.#add({ type: 'migration', migration })
  }

  #add(delta: Delta): void {
    // The readers are those of another recording, if a look has lasted until then.
    if (this.#hasEnded || !changesState(this.state, delta)) return
    this.state.apply(delta)
    this.#push(delta)
  }
}

function isStreamed(event: ClusterEvent): event is StreamedEvent {
  if (event.type === 'log') return event.level === 'warn' || event.level === 'error'
  return event.type !== 'routed' && event.type !== 'operations' && event.type !== 'collection-size'
}
