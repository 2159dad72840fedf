import type { ReplyOf, RequestOf } from '@shardlab/actor'
import { decode, type Document } from '@shardlab/bson'
import type { ClusterFacts } from '@shardlab/dashboard'
import type { DashboardServer } from '@shardlab/dashboard/server'
import { replyOf } from '../answer-command.js'
import { OptionError } from '../option-error.js'
import type { ResolvedOptions } from '../resolved-options.js'
import type { DashboardOption } from './dashboard-option.js'
import type { LiveRecorder } from './live-recorder.js'
import type { ShownCluster } from './shown-cluster.js'

export const eventVerbs: ReadonlySet<string> = new Set(['events'])

/** A client that has gone leaves its request behind for this time. */
const waitMsMax = 10_000

/** Loads and makes the recorder with the first request. */
export class LiveStream {
  /** null: the cluster has not started. */
  #cluster: ShownCluster | null = null
  #dashboard: DashboardServer | null = null
  #recorder: Promise<LiveRecorder> | null = null
  /** Calls of {@link withoutWaits} that have not ended. */
  #holds = 0

  serve(cluster: ShownCluster): void {
    this.#cluster = cluster
  }

  /** @throws OptionError the cluster has not started */
  recorder(): Promise<LiveRecorder> {
    const cluster = this.#cluster
    if (cluster === null) throw new OptionError('the cluster has not started yet: try again.')
    this.#recorder ??= import('./live-recorder.js').then(({ LiveRecorder }) => new LiveRecorder(cluster))
    return this.#recorder
  }

  /** The address; null: there is no dashboard. */
  get dashboard(): string | null {
    return this.#dashboard?.url ?? null
  }

  /** @throws OptionError it cannot be opened; the cluster has been stopped then */
  async openDashboard(option: DashboardOption, cluster: { stop(): Promise<void> }): Promise<void> {
    if (option === false) return
    try {
      const { openLiveDashboard } = await import('./live-dashboard.js')
      const port = option === true ? 0 : option
      this.#dashboard = await openLiveDashboard(this.#cluster!, await this.recorder(), port)
    } catch (error) {
      await cluster.stop()
      throw error
    }
  }

  async close(): Promise<void> {
    await this.#dashboard?.close()
    const recorder = await this.#recorder
    recorder?.closeAll()
  }

  /** While a command of a reader waits, the cluster cannot be copied. Pages wait on. */
  async withoutWaits<T>(work: () => Promise<T>): Promise<T> {
    this.#holds++
    try {
      const recorder = await this.#recorder
      recorder?.wakeAll()
      return await work()
    } finally {
      this.#holds--
    }
  }

  /** As {@link withoutWaits}, for work that gives the cluster another state. */
  async restoring<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await this.withoutWaits(work)
    } finally {
      const recorder = await this.#recorder
      recorder?.restored()
    }
  }

  /** Serves `{ shardlab: 'events', reader, after, waitMs, close }`. */
  answer({ body }: RequestOf<'cluster.command'>): Promise<ReplyOf<'cluster.command'>> {
    return replyOf(() => this.#run(decode(body, { promoteLongs: true })))
  }

  async #run(command: Document): Promise<Document> {
    const { reader, after, waitMs = 0, close } = command
    const recorder = await this.recorder()
    if (typeof waitMs !== 'number' || !(waitMs >= 0 && waitMs <= waitMsMax))
      throw new OptionError(`waitMs is ${String(waitMs)}; it must be a number from 0 to ${waitMsMax}.`)
    if (reader === undefined) {
      if (after !== undefined || close !== undefined)
        throw new OptionError('events needs the reader to which after and close refer.')
      return asDocument(await recorder.next(await recorder.open(), 0, 0))
    }
    if (typeof reader !== 'string') throw new OptionError('reader must be the text that the first reply has.')
    if (close === true) {
      recorder.close(reader)
      return { reader, deltas: [] }
    }
    if (typeof after !== 'number')
      throw new OptionError('events needs after: the number of the last delta that arrived.')
    return asDocument(await recorder.next(reader, after, this.#holds === 0 ? waitMs : 0))
  }
}

const asDocument = ({ reader, deltas }: Awaited<ReturnType<LiveRecorder['next']>>): Document => ({ reader, deltas })

export function factsOf(
  { id, uri }: { readonly id: string; readonly uri: string },
  { topology, emulate, clock }: ResolvedOptions,
): ClusterFacts {
  return { id, uri, topology, emulate, clock }
}
