/**
 * Simulates the targeting of sampled queries under a shard key: the key space is cut at split
 * points, and each range is on a shard of its own.
 * Server: analyze_shard_key_read_write_distribution.cpp,
 * document_source_analyze_shard_key_read_write_distribution.cpp.
 */
import {
  BsonType,
  compareDocuments,
  documentsOf,
  DocumentWriter,
  emptyDocument,
  findField,
  isEmptyDocument,
  sameBytes,
} from '@shardlab/bson'
import { withLet } from '@shardlab/member'
import { sampledQueriesNs, type NodeHost } from '@shardlab/node'
import { compileFilter, equalityValues } from '@shardlab/query'
import { RoutingTable, targetFilter, type CollectionPlacement, type ShardKeyPattern } from '@shardlab/sharding'
import type { Collection } from '@shardlab/storage'
import type { AnalysedKey } from './analysed-collection.js'
import { sampledDiffsNs } from './query-samples.js'
import { arrayInKey } from './sampled-keys.js'

type ReadCommand = 'find' | 'aggregate' | 'count' | 'distinct'
type WriteCommand = 'update' | 'delete' | 'findAndModify'

interface QueryTargets {
  readonly kind: 'single' | 'multi' | 'scatter'
  /** The ranges' numbers. */
  readonly ranges: readonly number[]
}

class Distribution<Command extends string> {
  readonly sampleSize: Record<Command, number>
  readonly #numbers = { single: 0, multi: 0, scatter: 0 }
  readonly #byRange: number[]

  constructor(commands: readonly Command[], rangeCount: number) {
    this.sampleSize = Object.fromEntries(commands.map((name) => [name, 0])) as Record<Command, number>
    this.#byRange = new Array<number>(rangeCount).fill(0)
  }

  add(command: Command, { kind, ranges }: QueryTargets): void {
    this.sampleSize[command]++
    this.#numbers[kind]++
    for (const range of ranges) this.#byRange[range]!++
  }

  write(writer: DocumentWriter): DocumentWriter {
    writer.startDocument('sampleSize')
    for (const [command, count] of Object.entries<number>(this.sampleSize)) writer.int64(command, count)
    const { single, multi, scatter } = this.#numbers
    writer
      .end()
      .int64('numSingleShard', single)
      .int64('numMultiShard', multi)
      .int64('numScatterGather', scatter)
      .startArray('numByRange')
    this.#byRange.forEach((count, i) => writer.int64(String(i), count))
    return writer.end()
  }
}

/**
 * @returns counters in the form of the reply to `shard.distribute-queries`
 * @throws CommandError 2 BadValue for an array in a split point
 */
export function distributeQueries(
  node: NodeHost,
  analysed: AnalysedKey,
  ns: string,
  splitPoints: readonly Uint8Array[],
): Uint8Array {
  return new QueryDistribution(node, analysed, ns, splitPoints).run()
}

class QueryDistribution {
  readonly #node: NodeHost
  readonly #collection: Collection
  readonly #shardKey: ShardKeyPattern
  readonly #placement: CollectionPlacement
  readonly #reads: Distribution<ReadCommand>
  readonly #writes: Distribution<WriteCommand>
  #singleWithoutKey = 0
  #multiWithoutKey = 0

  constructor(node: NodeHost, { collection, shardKey }: AnalysedKey, ns: string, splitPoints: readonly Uint8Array[]) {
    this.#node = node
    this.#collection = collection
    this.#shardKey = shardKey
    this.#placement = placementOf(collection, shardKey, ns, splitPoints)
    this.#reads = new Distribution(['find', 'aggregate', 'count', 'distinct'], splitPoints.length + 1)
    this.#writes = new Distribution(['update', 'delete', 'findAndModify'], splitPoints.length + 1)
  }

  run(): Uint8Array {
    for (const sample of samplesOf(this.#node, sampledQueriesNs, this.#collection)) this.#add(sample)
    const { sampleSize } = this.#writes
    const writes = sampleSize.update + sampleSize.delete + sampleSize.findAndModify
    const keyUpdates = samplesOf(this.#node, sampledDiffsNs, this.#collection).filter((sample) =>
      this.#changesKey(sample),
    ).length
    const writer = new DocumentWriter(2048).startDocument('readDistribution')
    this.#reads.write(writer).end().startDocument('writeDistribution')
    this.#writes
      .write(writer)
      // Diffs and queries are written separately, so their numbers may differ.
      .int64('numShardKeyUpdates', Math.min(keyUpdates, writes))
      .int64('numSingleWritesWithoutShardKey', this.#singleWithoutKey)
      .int64('numMultiWritesWithoutShardKey', this.#multiWithoutKey)
    return writer.end().finish()
  }

  #add(sample: Uint8Array): void {
    const cmd = findField(sample, 'cmd')!.slice()
    const letVariables = documentIn(cmd, 'let')
    const name = findField(sample, 'cmdName')!.asString()
    switch (name) {
      case 'find':
      case 'aggregate':
      case 'count':
      case 'distinct':
        this.#reads.add(
          name,
          this.#target(documentIn(cmd, 'filter') ?? emptyDocument, documentIn(cmd, 'collation'), letVariables),
        )
        return
      case 'update':
        for (const statement of statementsIn(cmd, 'updates'))
          this.#addUpdate(statement, { filter: 'q', update: 'u' }, letVariables)
        return
      case 'delete':
        for (const statement of statementsIn(cmd, 'deletes'))
          this.#addWrite(
            'delete',
            this.#targetOf(statement, 'q', letVariables),
            findField(statement, 'limit')?.asNumber() === 0,
          )
        return
      case 'findAndModify':
        this.#addWrite('findAndModify', this.#targetOf(cmd, 'query', letVariables), false)
        return
      case 'bulkWrite':
        for (const op of statementsIn(cmd, 'ops')) {
          if (findField(op, 'updateMods') !== undefined)
            this.#addUpdate(op, { filter: 'filter', update: 'updateMods' }, letVariables)
          else
            this.#addWrite(
              'delete',
              this.#targetOf(op, 'filter', letVariables),
              findField(op, 'multi')?.isTruthy() === true,
            )
        }
    }
  }

  #addUpdate(
    statement: Uint8Array,
    names: { readonly filter: string; readonly update: string },
    letVariables: Uint8Array | undefined,
  ): void {
    let target = this.#targetOf(statement, names.filter, letVariables)
    const update = findField(statement, names.update)!
    if (
      target.kind !== 'single' &&
      findField(statement, 'upsert')?.isTruthy() !== true &&
      update.type === BsonType.object
    ) {
      const replacement = update.slice()
      if (
        isReplacement(replacement) &&
        this.#fixesId(documentIn(statement, names.filter) ?? emptyDocument, letVariables)
      ) {
        const key = this.#shardKey.extract(replacement)
        if (typeof key !== 'string')
          target = { kind: 'single', ranges: [Number(this.#placement.table.shardOf(key.keyString))] }
      }
    }
    this.#addWrite('update', target, findField(statement, 'multi')?.isTruthy() === true)
  }

  #addWrite(command: WriteCommand, target: QueryTargets, multi: boolean): void {
    this.#writes.add(command, target)
    if (target.kind === 'single') return
    if (multi) this.#multiWithoutKey++
    else this.#singleWithoutKey++
  }

  #targetOf(statement: Uint8Array, filter: string, letVariables: Uint8Array | undefined): QueryTargets {
    return this.#target(
      documentIn(statement, filter) ?? emptyDocument,
      documentIn(statement, 'collation'),
      letVariables,
    )
  }

  #target(filter: Uint8Array, collation: Uint8Array | undefined, letVariables: Uint8Array | undefined): QueryTargets {
    const { shards, exactKey, bounds } = targetFilter(
      this.#placement,
      compileFilter(filter, withLet(this.#node.evaluation(), letVariables)),
      isSimple(collation, this.#collection.defaultCollation) ? {} : { strings: anyOrder },
    )
    const ranges = shards.map(Number)
    if (exactKey !== null) return { kind: 'single', ranges }
    const [only] = bounds
    if (bounds.length !== 1 || only === undefined) return { kind: 'multi', ranges }
    if (compareDocuments(only[0], only[1]) === 0) return { kind: 'single', ranges }
    const isEverything =
      compareDocuments(only[0], this.#shardKey.globalMin) === 0 &&
      compareDocuments(only[1], this.#shardKey.globalMax) === 0
    return { kind: isEverything ? 'scatter' : 'multi', ranges }
  }

  #fixesId(filter: Uint8Array, letVariables: Uint8Array | undefined): boolean {
    const compiled = compileFilter(filter, withLet(this.#node.evaluation(), letVariables))
    return equalityValues(compiled.root, ['_id']) !== null
  }

  /** Whether the diff has a field of the key, or replaces a document that contains one. */
  #changesKey(sample: Uint8Array): boolean {
    const diff = findField(sample, 'diff')!
    return this.#shardKey.fields.some(({ parts }) => {
      let start = diff.start
      for (let i = 0; i < parts.length; i++) {
        const value = findField(diff.bytes, parts[i]!, start)
        if (value === undefined) return false
        if (value.type !== BsonType.object) return true
        start = value.start
      }
      return true
    })
  }
}

/** One chunk per range, on a shard named by the number of the range. */
function placementOf(
  collection: Collection,
  shardKey: ShardKeyPattern,
  ns: string,
  splitPoints: readonly Uint8Array[],
): CollectionPlacement {
  const cuts = splitPoints.map((splitPoint) => {
    const keyString = shardKey.keyStringOfBound(splitPoint)
    if (keyString === undefined) throw arrayInKey(shardKey)
    return keyString
  })
  const bounds = [shardKey.globalMinKeyString, ...cuts, shardKey.globalMaxKeyString]
  const chunks = bounds.slice(1).map((max, i) => ({ min: bounds[i]!, max, shard: String(i), major: 1, minor: i }))
  return {
    ns,
    uuid: collection.uuid,
    shardKey,
    unique: false,
    isUnsplittable: false,
    defaultCollation: collection.defaultCollation,
    table: RoutingTable.build(
      ['000000000000000000000001', 1, 1],
      { globalMin: shardKey.globalMinKeyString, globalMax: shardKey.globalMaxKeyString },
      chunks,
    ),
  }
}

function samplesOf(node: NodeHost, ns: string, { uuid }: Collection): Uint8Array[] {
  const found: Uint8Array[] = []
  const records = node.collection(ns)?.scan()
  for (let record = records?.next() ?? null; record !== null; record = records!.next()) {
    const id = findField(record.document, 'collectionUuid')
    if (id?.type === BsonType.binary && sameBytes(id.asBinary(), uuid)) found.push(record.document)
  }
  return found
}

function statementsIn(cmd: Uint8Array, name: string): Uint8Array[] {
  const value = findField(cmd, name)
  return value === undefined ? [] : documentsOf(value)
}

function documentIn(document: Uint8Array, name: string): Uint8Array | undefined {
  const value = findField(document, name)
  return value?.type === BsonType.object ? value.slice() : undefined
}

function isReplacement(update: Uint8Array): boolean {
  // An update without fields is a replacement by an empty document.
  return isEmptyDocument(update) || update[5] !== dollar
}

const dollar = 0x24

// Under a collation equal strings may be anywhere in the key space; which one does not matter.
const anyOrder = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

function isSimple(collation: Uint8Array | undefined, defaultCollation: Uint8Array | null): boolean {
  const effective = collation === undefined || isEmptyDocument(collation) ? defaultCollation : collation
  return effective === null || findField(effective, 'locale')?.asString() === 'simple'
}
