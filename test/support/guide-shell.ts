/**
 * Runs the mongosh code of guides on a simulated cluster: the few methods that guides use, in order
 * as in the shell. Results are printed as the shell prints them.
 */
import { inspect } from 'node:util'
import { createContext, runInContext } from 'node:vm'
import { Binary, decode, encode, Long, MaxKey, MinKey, type Document } from '@shardlab/bson'
import type { SimulatedCluster } from '@shardlab/cluster'

/** The reply of a queued command; its properties can be awaited before the reply has arrived. */
type Later = Promise<unknown>

export class GuideShell {
  readonly #cluster: SimulatedCluster
  readonly #context
  #turn: Promise<unknown> = Promise.resolve()
  #txnNumber = 0

  constructor(cluster: SimulatedCluster, db: string) {
    this.#cluster = cluster
    this.#context = createContext({
      db: this.#database(db),
      sh: this.#sharding(),
      MinKey: () => new MinKey(),
      MaxKey: () => new MaxKey(),
      NumberLong: (value: number | string) => Long.fromString(String(value)),
      sleep: (ms: number) => this.#queue(() => cluster.advance(ms)),
    })
  }

  /** The value of the last statement. */
  async run(code: string): Promise<unknown> {
    const value: unknown = runInContext(code, this.#context)
    // The caller awaits the same error.
    if (value instanceof Promise) value.catch(() => {})
    try {
      await this.#turn
    } finally {
      this.#turn = Promise.resolve()
    }
    return value
  }

  #queue<T>(run: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(run)
    this.#turn = turn
    return turn
  }

  #command(db: string, command: Document): Later {
    const reply = this.#queue(async () => {
      const {
        $clusterTime: _,
        operationTime: __,
        ...rest
      } = decode(
        await this.#cluster.command(encode({ ...((await settled(command)) as Document), $db: db }), { to: 'mongos01' }),
        {
          promoteLongs: false,
        },
      )
      if (rest['ok'] !== 1 || 'writeErrors' in rest) throw failure(rest)
      return rest
    })
    return chained(reply)
  }

  /** Sends a write as drivers do: retryable by default. */
  #write(db: string, command: Document, { retryWrites = true }: Document = {}): Later {
    const session = {
      lsid: { id: new Binary(Buffer.alloc(16, 1), 4) },
      ...(retryWrites ? { txnNumber: Long.fromNumber(++this.#txnNumber) } : {}),
    }
    return this.#command(db, { ...command, ...session })
  }

  #database(name: string): unknown {
    const own = {
      adminCommand: (command: Document) => this.#command('admin', command),
      runCommand: (command: Document) => this.#command(name, command),
      getSiblingDB: (other: string) => this.#database(other),
      dropDatabase: () => this.#command(name, { dropDatabase: 1 }),
    }
    return new Proxy(own, { get: (_, key) => own[key as keyof typeof own] ?? this.#collection(name, String(key)) })
  }

  /** The commands that mongosh 2 sends for these helpers. */
  #sharding(): unknown {
    const run = (command: Document) => this.#command('admin', command)
    return {
      enableSharding: (db: string, primaryShard?: string) =>
        run({ enableSharding: db, ...(primaryShard === undefined ? {} : { primaryShard }) }),
      shardCollection: (ns: string, key: Document, unique = false, options: Document = {}) =>
        run({ shardCollection: ns, key, unique, ...options }),
      reshardCollection: (ns: string, key: Document, unique: boolean, options: Document = {}) =>
        run({ reshardCollection: ns, key, unique, ...options }),
      splitAt: (ns: string, middle: Document) => run({ split: ns, middle }),
      splitFind: (ns: string, find: Document) => run({ split: ns, find }),
      moveChunk: (ns: string, find: Document, to: string) => run({ moveChunk: ns, find, to }),
      addShardToZone: (shard: string, zone: string) => run({ addShardToZone: shard, zone }),
      removeShardFromZone: (shard: string, zone: string) => run({ removeShardFromZone: shard, zone }),
      updateZoneKeyRange: (ns: string, min: Document, max: Document, zone: string | null) =>
        run({ updateZoneKeyRange: ns, min, max, zone }),
      addShard: (host: string) => run({ addShard: host }),
      stopBalancer: () => run({ balancerStop: 1, maxTimeMS: 60_000 }),
      startBalancer: () => run({ balancerStart: 1, maxTimeMS: 60_000 }),
      balancerCollectionStatus: (ns: string) => run({ balancerCollectionStatus: ns }),
    }
  }

  #collection(db: string, name: string): unknown {
    const run = (command: Document) => this.#command(db, command)
    const update = (q: Document, u: Document, { retryWrites, ...options }: Document = {}, multi = false) =>
      this.#write(db, { update: name, updates: [{ q, u, multi, ...options }] }, { retryWrites }).then(updateResult)
    const find = (options: Document): unknown => ({
      sort: (sort: Document) => find({ ...options, sort }),
      limit: (limit: number) => find({ ...options, limit }),
      toArray: () => chained(run({ find: name, ...options }).then(firstBatch)),
    })
    const aggregate = (pipeline: Document[]) => chained(run({ aggregate: name, pipeline, cursor: {} }).then(firstBatch))
    return {
      insertMany: (documents: Document[]) => this.#write(db, { insert: name, documents }),
      insertOne: (document: Document) => this.#write(db, { insert: name, documents: [document] }),
      createIndex: (key: Document, options: Document = {}) => {
        const index = { name: Object.entries(key).flat().join('_'), key, ...options }
        return run({ createIndexes: name, indexes: [index] }).then(() => index.name)
      },
      dropIndex: (index: string) => run({ dropIndexes: name, index }),
      drop: () => run({ drop: name }).then(() => true),
      find: (filter: Document = {}, projection: Document = {}) => find({ filter, projection }),
      findOne: (filter: Document = {}, projection: Document = {}) =>
        chained(
          run({ find: name, filter, projection, limit: 1, singleBatch: true }).then(
            (reply) => firstBatch(reply)[0] ?? null,
          ),
        ),
      aggregate: (pipeline: Document[]) => ({ toArray: () => aggregate(pipeline) }),
      countDocuments: (filter: Document = {}) =>
        chained(
          aggregate([{ $match: filter }, { $group: { _id: 1, n: { $sum: 1 } } }]).then(
            (groups) => (groups as Document[])[0]?.['n'] ?? 0,
          ),
        ),
      updateOne: (q: Document, u: Document, options?: Document) => update(q, u, options),
      updateMany: (q: Document, u: Document, options?: Document) =>
        update(q, u, { ...options, retryWrites: false }, true),
      deleteMany: (q: Document) =>
        this.#write(db, { delete: name, deletes: [{ q, limit: 0 }] }, { retryWrites: false }),
      configureQueryAnalyzer: (options: Document) =>
        this.#command('admin', { configureQueryAnalyzer: `${db}.${name}`, ...options }),
      analyzeShardKey: (key: Document, options: Document = {}) =>
        this.#command('admin', { analyzeShardKey: `${db}.${name}`, key, ...options }),
    }
  }
}

function firstBatch(reply: unknown): Document[] {
  return (reply as Document)['cursor'].firstBatch as Document[]
}

function updateResult(reply: unknown): Document {
  const { n, nModified, upserted = [] } = reply as Document
  return {
    acknowledged: true,
    insertedId: upserted[0]?._id ?? null,
    matchedCount: n - upserted.length,
    modifiedCount: nModified,
    upsertedCount: upserted.length,
  }
}

/** The value with promises replaced by their results. */
async function settled(value: unknown): Promise<unknown> {
  if (value instanceof Promise) return await value
  if (Array.isArray(value)) return Promise.all(value.map(settled))
  if (typeof value !== 'object' || value === null || '_bsontype' in value || !isPlain(value)) return value
  const fields = await Promise.all(
    Object.entries(value).map(async ([name, field]) => [name, await settled(field)] as const),
  )
  return Object.fromEntries(fields)
}

/** Whether the value is a plain object, also one of another realm. */
function isPlain(value: object): boolean {
  const prototype: object | null = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

/** A promise with the properties of its future result. */
function chained(reply: Promise<unknown>): Later {
  return new Proxy(reply, {
    get(target, key) {
      if (key in Promise.prototype) return (Reflect.get(target, key) as () => unknown).bind(target)
      const property = target.then((value) => (value as Record<PropertyKey, unknown>)[key])
      // Only users of the property handle its rejection.
      property.catch(() => {})
      return chained(property)
    },
  })
}

/** A server error, printed as the shell prints it. */
export class GuideError extends Error {
  readonly code: number | undefined
  readonly codeName: string | undefined

  constructor({ code, codeName, errmsg }: Document) {
    super(`MongoServerError${codeName === undefined ? '' : `[${String(codeName)}]`}: ${String(errmsg)}`)
    this.code = code
    this.codeName = codeName
  }
}

function failure(reply: Document): GuideError {
  return new GuideError(reply['writeErrors']?.[0] ?? reply)
}

/** The commands of a guide, each with the output shown below it; null: no output is shown. */
export function blocksOf(guide: string): { readonly code: string; readonly output: string | null }[] {
  return [...guide.matchAll(/^```js\n([^]*?)\n```\n(?:\n```\n([^]*?)\n```\n)?/gm)].map(([, code, output]) => ({
    code: code!,
    output: output ?? null,
  }))
}

/** The value as mongosh prints it. */
export function shown(value: unknown): string {
  return typeof value === 'string'
    ? value
    : inspect(inShell(value), { depth: null, breakLength: 80, maxArrayLength: null })
}

function inShell(value: unknown): unknown {
  if (isLong(value)) return as(`Long('${String(value)}')`)
  if (isKey(value)) return as(`${value._bsontype}()`)
  if (value instanceof Date) return as(`ISODate('${value.toISOString()}')`)
  if (Array.isArray(value)) return value.map(inShell)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, inShell(field)]))
}

function isLong(value: unknown): boolean {
  return typeof value === 'object' && value !== null && '_bsontype' in value && value._bsontype === 'Long'
}

function isKey(value: unknown): value is MinKey | MaxKey {
  return (
    typeof value === 'object' &&
    value !== null &&
    '_bsontype' in value &&
    (value._bsontype === 'MinKey' || value._bsontype === 'MaxKey')
  )
}

function as(text: string): unknown {
  return { [inspect.custom]: () => text }
}
