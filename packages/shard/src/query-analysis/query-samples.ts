/**
 * Sampled queries are buffered in memory, written to config.sampledQueries and
 * config.sampledQueriesDiff at intervals, and deleted by TTL indexes.
 * Server: query_analysis_writer.cpp, query_analysis_sampler.cpp (shard servers refresh their
 * configurations, too).
 */
import { configAddress, RequestFailedError } from '@shardlab/actor'
import { CommandError, DocumentWriter, emptyDocument, FieldIterator, findField, isEmptyDocument } from '@shardlab/bson'
import { SampleTracker, type ShardLabel } from '@shardlab/member'
import {
  buildIndex,
  createCollection,
  type NodeInvocation,
  sampledQueriesNs,
  type SampledWrites,
  type NodeHost,
} from '@shardlab/node'
import { inlineDiff } from './document-diff.js'

export const sampledDiffsNs = 'config.sampledQueriesDiff'

const refreshTimer = 'query-analysis-refresh'
const writerTimer = 'query-analysis-writer'

export const samplesTimers = [refreshTimer, writerTimer] as const

/** The server does not buffer larger documents: the insert command needs room for other fields. */
const sampleBytesMax = 14 * 1024 * 1024
const refreshTimeoutMs = 15_000

const readCommands: ReadonlySet<string> = new Set(['find', 'aggregate', 'count', 'distinct'])

interface SampledQuery {
  readonly sampleId: Uint8Array
  readonly ns: string
  readonly cmdName: string
  readonly cmd: Uint8Array
}

interface SampledStatement {
  readonly ns: string
  readonly sampleId: Uint8Array
  readonly invocation: NodeInvocation
}

export interface UnwrittenSamples {
  readonly queries: readonly Uint8Array[]
  readonly diffs: readonly Uint8Array[]
  readonly bufferedBytes: number
}

export class QuerySamples implements SampledWrites {
  readonly #node: NodeHost
  readonly #tracker = new SampleTracker('mongod')
  #queries: Uint8Array[] = []
  #diffs: Uint8Array[] = []
  #bufferedBytes = 0
  #statement: SampledStatement | null = null

  constructor(node: NodeHost) {
    this.#node = node
    node.parameters.watch('queryAnalysisSamplerConfigurationRefreshSecs', () => this.start())
    node.parameters.watch('queryAnalysisWriterIntervalSecs', () => {
      if (this.#bufferedBytes > 0) this.#armWriter()
    })
  }

  get isActive(): boolean {
    return this.#tracker.isActive
  }

  start(): void {
    const { context, parameters } = this.#node
    context.setTimer(refreshTimer, parameters.number('queryAnalysisSamplerConfigurationRefreshSecs') * 1000)
  }

  export(): UnwrittenSamples {
    return { queries: [...this.#queries], diffs: [...this.#diffs], bufferedBytes: this.#bufferedBytes }
  }

  /** Call instead of {@link start}. The next refresh fetches the configurations. */
  import({ queries, diffs, bufferedBytes }: UnwrittenSamples): void {
    this.#queries = [...queries]
    this.#diffs = [...diffs]
    this.#bufferedBytes = bufferedBytes
  }

  wake(timer: string): Promise<void> {
    return timer === refreshTimer ? this.#refresh() : this.write()
  }

  /** Ignores collections without a configuration. */
  async add({ sampleId, ns, cmdName, cmd }: SampledQuery): Promise<void> {
    const collection = this.#node.collection(ns)
    if (collection === undefined || !this.#tracker.tracks(ns, collection.uuid)) return
    const document = this.#sample(sampleId, ns, collection.uuid)
      .string('cmdName', cmdName)
      .document('cmd', cmdName === 'aggregate' ? withCollation(cmd, collection.defaultCollation) : cmd)
      .date('expireAt', this.#expireAtMs)
      .finish()
    if (document.length > sampleBytesMax) return
    this.#queries.push(document)
    this.#tracker.count(ns, readCommands.has(cmdName) ? 'reads' : 'writes', document.length)
    await this.#buffered(document)
  }

  statementBegins(ns: string, statement: Uint8Array, invocation: NodeInvocation): void {
    const id = findField(statement, 'sampleId')
    this.#statement = id === undefined ? null : { ns, sampleId: id.asBinary().slice(), invocation }
  }

  /** Notes only the first document that a sampled update changes. */
  noteReplacement(before: Uint8Array, after: Uint8Array, invocation: NodeInvocation): void {
    const statement = this.#statement
    if (statement === null || statement.invocation !== invocation) return
    const { ns, sampleId } = statement
    const collection = this.#node.collection(ns)
    const diff = inlineDiff(before, after)
    if (diff === null || collection === undefined || !this.#tracker.tracks(ns, collection.uuid)) return
    this.#statement = null
    const document = this.#sample(sampleId, ns, collection.uuid)
      .document('diff', diff)
      .date('expireAt', this.#expireAtMs)
      .finish()
    if (document.length > sampleBytesMax) return
    this.#diffs.push(document)
    this.#node.context.detach(this.#buffered(document))
  }

  operations(shard: ShardLabel): Uint8Array[] {
    return this.#tracker.operations(shard)
  }

  writeStatus(writer: DocumentWriter): void {
    this.#tracker.writeStatus(writer)
  }

  /** A full disk is only logged. */
  async write(): Promise<void> {
    const queries = this.#queries
    const diffs = this.#diffs
    this.#queries = []
    this.#diffs = []
    this.#bufferedBytes = 0
    try {
      this.#insert(sampledQueriesNs, 'SampledQueriesTTLIndex', queries)
      this.#insert(sampledDiffsNs, 'SampledQueriesDiffTTLIndex', diffs)
      await this.#node.flushToMajority()
    } catch (error) {
      if (!(error instanceof CommandError)) throw error
      this.#node.context.log('warn', 'sampled queries were not written', { error: error.message })
    }
  }

  async #refresh(): Promise<void> {
    const { context, stopping } = this.#node
    // A shard routes no queries itself and needs only the configurations.
    const statistics = new DocumentWriter(64).double('numQueriesExecutedPerSecond', 0).finish()
    try {
      const { configurations, error } = await context.request(
        configAddress,
        'config.refresh-query-analyzer',
        { name: context.endpoint, statistics },
        { timeoutMs: refreshTimeoutMs },
      )
      if (error === null) this.#tracker.use(configurations)
    } catch (error) {
      if (!(error instanceof RequestFailedError)) throw error
    }
    if (!stopping.signal.aborted) this.start()
  }

  #sample(sampleId: Uint8Array, ns: string, uuid: Uint8Array): DocumentWriter {
    return new DocumentWriter(512).uuid('_id', sampleId).string('ns', ns).uuid('collectionUuid', uuid)
  }

  get #expireAtMs(): number {
    return this.#node.context.now() + this.#node.parameters.number('queryAnalysisSampleExpirationSecs') * 1000
  }

  async #buffered(document: Uint8Array): Promise<void> {
    if (this.#bufferedBytes === 0) this.#armWriter()
    this.#bufferedBytes += document.length
    if (this.#bufferedBytes >= this.#node.parameters.number('queryAnalysisWriterMaxMemoryUsageBytes'))
      await this.write()
  }

  #armWriter(): void {
    const { context, parameters } = this.#node
    context.setTimer(writerTimer, parameters.number('queryAnalysisWriterIntervalSecs') * 1000)
  }

  #insert(ns: string, indexName: string, documents: readonly Uint8Array[]): void {
    for (const document of documents) insertExpiring(this.#node, ns, indexName, document)
  }
}

/** Adds the effective collation to an aggregate; the simple one by name. */
function withCollation(cmd: Uint8Array, defaultCollation: Uint8Array | null): Uint8Array {
  const writer = new DocumentWriter(cmd.length + 64)
  for (const it = new FieldIterator(cmd); it.next();) {
    const value = it.value()
    if (it.name() !== 'collation' || !isEmptyDocument(value.bytes, value.start)) writer.value(it.name(), value)
    else if (defaultCollation !== null) writer.document('collation', defaultCollation)
    else writer.startDocument('collation').string('locale', 'simple').end()
  }
  return writer.finish()
}

/** Creates the internal collection with its TTL index if missing. The caller flushes the node. */
export function insertExpiring(node: NodeHost, ns: string, indexName: string, document: Uint8Array): void {
  let collection = node.collection(ns)
  if (collection === undefined) {
    collection = createCollection(node, ns, emptyDocument)
    const spec = new DocumentWriter(128).int32('v', 2).startDocument('key').int32('expireAt', 1).end()
    buildIndex(node, collection, spec.string('name', indexName).int32('expireAfterSeconds', 0).finish())
    collection = node.collection(ns)!
  }
  const id = findField(document, '_id')!
  // A repeated command was sampled again: the first sample stays.
  if (collection.findById(id) !== undefined) return
  node.apply({ op: 'i', ns, uuid: collection.uuid, object: document, id, session: null })
}
