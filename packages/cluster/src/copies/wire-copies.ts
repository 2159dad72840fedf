/**
 * Snapshots and forks that clients make with the command `shardlab`. A copy is made when no member
 * works on anything, so the router checks the command and ends it; then the gate of the connection
 * calls {@link WireCopies.complete}, and sends the reply that it returns.
 */
import type { ReplyOf, RequestOf } from '@shardlab/actor'
import { decode, DocumentWriter, FieldIterator, firstFieldName, type Document } from '@shardlab/bson'
import { replyOf } from '../answer-command.js'
import { OptionError } from '../option-error.js'
import type { ClusterOptions } from '../options.js'
import type { ShardInfo, StandbyInfo } from '../shard-info.js'
import type { ClusterSnapshot } from './snapshot.js'

/** The parts of a ShardedCluster that commands use. */
interface CopyableCluster {
  readonly id: string
  readonly uri: string
  readonly config: ShardInfo | null
  readonly shards: readonly ShardInfo[]
  readonly standby: readonly StandbyInfo[]
  readonly mongos: readonly string[]
  snapshot(): Promise<ClusterSnapshot>
  restore(snapshot: ClusterSnapshot): Promise<void>
  stop(): Promise<void>
}

export interface CopyTools {
  readonly cluster: CopyableCluster
  /** @throws OptionError if the cluster cannot be copied or restored at all */
  readonly check: () => void
  readonly start: (options: ClusterOptions) => Promise<CopyableCluster>
}

/** The field of a router's reply that is to be completed. */
const incomplete = 'shardlab.incomplete'
/** Pages that only old snapshots hold cost memory until these are discarded. */
const copiesMax = 1000

export const copyVerbs: ReadonlySet<string> = new Set(['snapshot', 'restore', 'fork', 'copies', 'discard'])

export class WireCopies {
  /** null: the cluster has not started. */
  #tools: CopyTools | null = null
  readonly #snapshots = new Map<string, ClusterSnapshot>()
  readonly #forks = new Map<string, CopyableCluster>()

  serve(tools: CopyTools): void {
    this.#tools = tools
  }

  /** Forks of clients have no other owner. */
  async stopForks(): Promise<void> {
    await Promise.all([...this.#forks.values()].map((fork) => fork.stop()))
  }

  /** Serves the verbs of {@link copyVerbs}. */
  answer({ verb, body }: RequestOf<'cluster.command'>): Promise<ReplyOf<'cluster.command'>> {
    return replyOf(async () => {
      this.#checked()
      const command = decode(body, { promoteLongs: true })
      if (verb === 'copies') return this.#list()
      if (verb === 'discard') return this.#discard(command['id'])
      this.#check(verb, command)
      return { [incomplete]: verb }
    })
  }

  /** @param reply of the router; returned as it is if it is complete */
  async complete(command: Uint8Array, reply: Uint8Array): Promise<Uint8Array> {
    if (firstFieldName(reply) !== incomplete) return reply
    const { reply: made, error } = await replyOf(() => this.#run(decode(command, { promoteLongs: true })))
    const writer = new DocumentWriter(made.length + reply.length)
    for (const it = new FieldIterator(error ?? made); it.next();) writer.value(it.name(), it.value())
    for (const it = new FieldIterator(reply); it.next();)
      if (it.name() !== incomplete && (error === null || it.name() !== 'ok')) writer.value(it.name(), it.value())
    return writer.finish()
  }

  /** @throws OptionError */
  #checked(): CopyTools {
    if (this.#tools === null) throw new OptionError('the cluster is still starting.')
    this.#tools.check()
    return this.#tools
  }

  /** @throws OptionError */
  #check(verb: string, { id, port, host }: Document): void {
    if (verb === 'restore' || id !== undefined) this.#snapshot(id)
    if (port !== undefined && typeof port !== 'number') throw new OptionError('port must be a number.')
    if (host !== undefined && typeof host !== 'string') throw new OptionError('host must be a text.')
    const count = this.#snapshots.size + this.#forks.size
    if (verb !== 'restore' && count >= copiesMax)
      throw new OptionError(`the cluster has ${count} snapshots and forks, the most that are kept: discard some.`)
  }

  async #run({ shardlab: verb, id, port, host }: Document): Promise<Document> {
    const { cluster, start } = this.#checked()
    const from = id === undefined ? undefined : this.#snapshot(id)
    if (verb === 'restore') {
      await cluster.restore(from!)
      return { restored: id }
    }
    if (verb === 'snapshot') {
      const snapshot = await cluster.snapshot()
      this.#snapshots.set(snapshot.id, snapshot)
      return described(snapshot)
    }
    const fork = await start({ port, host, from: from ?? (await cluster.snapshot()) })
    this.#forks.set(fork.id, fork)
    const { uri, config, shards, standby, mongos } = fork
    return { id: fork.id, uri, config, shards, standby, mongos }
  }

  #list(): Document {
    return {
      snapshots: [...this.#snapshots.values()].map(described),
      forks: [...this.#forks.values()].map(({ id, uri }) => ({ id, uri })),
    }
  }

  async #discard(id: unknown): Promise<Document> {
    const fork = this.#forks.get(id as string)
    if (fork === undefined) this.#snapshots.delete(this.#snapshot(id).id)
    else {
      this.#forks.delete(fork.id)
      await fork.stop()
    }
    return { discarded: id }
  }

  /** @throws OptionError */
  #snapshot(id: unknown): ClusterSnapshot {
    const snapshot = this.#snapshots.get(id as string)
    if (snapshot !== undefined) return snapshot
    const ids = [...this.#snapshots.keys()]
    const known = ids.length === 0 ? "none has been taken with { shardlab: 'snapshot' }" : `there are ${ids.join(', ')}`
    throw new OptionError(
      typeof id === 'string' ? `there is no snapshot ${id}; ${known}.` : `id must be the id of a snapshot; ${known}.`,
    )
  }
}

function described({ id, takenAtMs, emulate, members }: ClusterSnapshot): Document {
  return { id, takenAt: new Date(takenAtMs), emulate, members }
}
