/**
 * Server: query_analysis_sampler.cpp, query_analysis_sampler_util.cpp. Manual:
 * reference/command/configureQueryAnalyzer.
 */
import { configAddress, uuidV4, type Random } from '@shardlab/actor'
import { CommandError, DocumentWriter, findField, sameBytes } from '@shardlab/bson'
import { SampleTracker, type ShardLabel } from '@shardlab/member'
import type { Operation } from '../dispatch/operation.js'
import type { ChosenQuery, MongosInvocation, QuerySampling, SamplerHost } from '../host/mongos-host.js'
import { RateLimiter } from './rate-limiter.js'
import { sampledRead } from './sampled-read.js'

export const samplerTimer = 'query-sampler'

export class QuerySampler implements QuerySampling {
  isActive = false
  readonly #host: SamplerHost
  readonly #random: Random
  readonly #tracker = new SampleTracker('mongos')
  readonly #limiters = new Map<string, RateLimiter>()
  readonly #pending = new WeakMap<Operation, ChosenQuery[]>()
  /** A moving average, per second; null until the first refresh. */
  #averageQueries: number | null = null
  #countedQueries = 0
  #countedAtMs: number

  constructor(host: SamplerHost) {
    this.#host = host
    this.#random = host.context.random.fork('query-sampler')
    this.#countedAtMs = host.context.now()
    host.parameters.watch('queryAnalysisSamplerConfigurationRefreshSecs', () => this.start())
  }

  start(): void {
    const { context, parameters } = this.#host
    context.setTimer(samplerTimer, parameters.number('queryAnalysisSamplerConfigurationRefreshSecs') * 1000)
  }

  async wake(): Promise<void> {
    const { context, remote, stopping } = this.#host
    const statistics = new DocumentWriter(64).double('numQueriesExecutedPerSecond', this.#queriesPerSecond()).finish()
    try {
      const request = { name: context.endpoint, statistics }
      const { configurations, error } = await remote.request(
        configAddress,
        'config.refresh-query-analyzer',
        request,
        null,
      )
      if (error === null) this.#use(configurations)
    } catch (error) {
      if (!(error instanceof CommandError)) throw error
      context.log('warn', 'cannot read the configuration of query sampling', { error: error.message })
    }
    if (!stopping.signal.aborted) this.start()
  }

  choose(ns: string, kind: 'reads' | 'writes'): Uint8Array | null {
    if (this.#limiters.get(ns)?.tryConsume(this.#host.context.now()) !== true) return null
    this.#tracker.count(ns, kind, 0)
    return uuidV4(this.#random)
  }

  keepLater(operation: Operation, query: ChosenQuery): void {
    const known = this.#pending.get(operation)
    if (known === undefined) this.#pending.set(operation, [query])
    else known.push(query)
  }

  noteRouted(invocation: MongosInvocation, ns: string, shards: readonly string[]): void {
    if (!this.#limiters.has(ns) || shards.length === 0 || invocation.explain !== undefined) return
    const pending = this.#pending.get(invocation.operation)
    if (pending !== undefined) {
      for (const query of pending) if (query.ns === ns) this.#keep(shards, query)
      this.#pending.set(
        invocation.operation,
        pending.filter((query) => query.ns !== ns),
      )
      return
    }
    const read = sampledRead(invocation)
    if (read === null) return
    const sampleId = this.choose(ns, 'reads')
    if (sampleId !== null) this.#keep(shards, { ns, sampleId, ...read() })
  }

  operations(shard: ShardLabel): Uint8Array[] {
    return this.#tracker.operations(shard)
  }

  writeStatus(writer: DocumentWriter): void {
    this.#tracker.writeStatus(writer)
  }

  #keep(shards: readonly string[], { ns, sampleId, cmdName, cmd }: ChosenQuery): void {
    const shard = shards[shards.length === 1 ? 0 : this.#random.below(shards.length)]!
    this.#host.remote.send(shard, 'shard.add-sampled-query', { sampleId, ns, cmdName, cmd })
  }

  #use(configurations: readonly Uint8Array[]): void {
    const { context, parameters } = this.#host
    this.#tracker.use(configurations)
    const names = new Set<string>()
    for (const configuration of configurations) {
      const ns = findField(configuration, 'ns')!.asString()
      const id = findField(configuration, 'collectionUuid')!
      const uuid = id.asBinary().slice()
      const rate = findField(configuration, 'samplesPerSecond')!.asNumber()
      names.add(ns)
      const known = this.#limiters.get(ns)
      if (known !== undefined && sameBytes(known.uuid, uuid)) known.setRate(rate, context.now())
      else {
        const burst = () => parameters.number('queryAnalysisSamplerBurstMultiplier')
        this.#limiters.set(ns, new RateLimiter(uuid, rate, context.now(), burst))
      }
    }
    for (const ns of this.#limiters.keys()) if (!names.has(ns)) this.#limiters.delete(ns)
    this.isActive = this.#limiters.size > 0
  }

  /**
   * The server samples the count every second. Here the queries since the last refresh count as
   * spread evenly over the seconds.
   */
  #queriesPerSecond(): number {
    const { context, parameters, statistics } = this.#host
    const { opcounters } = statistics
    const commands = ['aggregate', 'findAndModify', 'count', 'distinct'].reduce(
      (sum, name) => sum + statistics.commandCount(name),
      0,
    )
    const count = opcounters.query + opcounters.update + opcounters.delete + commands
    const seconds = Math.max(1, Math.round((context.now() - this.#countedAtMs) / 1000))
    const perSecond = (count - this.#countedQueries) / seconds
    this.#countedQueries = count
    this.#countedAtMs = context.now()
    const kept = (1 - parameters.number('queryAnalysisQueryStatsSmoothingFactor')) ** seconds
    this.#averageQueries =
      this.#averageQueries === null ? perSecond : kept * this.#averageQueries + (1 - kept) * perSecond
    return this.#averageQueries
  }
}
