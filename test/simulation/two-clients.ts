/**
 * One script for two clients: the official driver on an inline cluster, the simulated client on a
 * simulated cluster.
 */
import { decode, encode, type Document } from '@shardlab/bson'
import { createSimulatedCluster, ShardedCluster, type ClusterOptions, type Faults } from '@shardlab/cluster'
import {
  createClient,
  errorsOf,
  type Client,
  type ClientSession,
  type Failed,
  type RunOptions,
} from '@shardlab/scenario'
import {
  MongoBulkWriteError,
  MongoClient,
  MongoClientBulkWriteError,
  MongoNetworkError,
  MongoServerError,
  MongoServerSelectionError,
  type AnyClientBulkWriteModel,
  type ClientSession as DriverSession,
  type Collection,
  type Db,
} from 'mongodb'

/** The outcome of a command, in terms that both clients have. */
export type Result =
  | { readonly ok: true; readonly value: unknown }
  | {
      readonly ok: false
      readonly kind: Failed['kind']
      readonly code: number | null
      readonly labels: readonly string[]
    }

/** A command as sent: enough to compare retries, sessions and fields that drivers add. */
export interface Sent {
  readonly name: string
  /** Sessions are numbered in the order of their first use; null: none. */
  readonly session: number | null
  readonly txnNumber: number | null
  readonly waitsForSession: boolean
  readonly tellsTime: boolean
  readonly batchSize: number | null
  /** Whether it went to another mongos than the command before. */
  readonly elsewhere: boolean
}

/** Runs the commands of the script on one of the two. */
export interface Speaker {
  /**
   * `runCommand: true`: like the shell's runCommand; otherwise like the driver's helper for the
   * command.
   */
  run(command: Document, how?: { readonly session?: SpokenSession; readonly runCommand?: boolean }): Promise<Result>
  /** Reads batch by batch, and calls `between` before each further one. */
  read(command: Document, between: () => Promise<unknown>, most?: number): Promise<Result>
  session(): SpokenSession
  end(session: SpokenSession): Promise<void>
  /** Commands sent since the last call. */
  sent(): Sent[]
  /** Sends a command to each mongos, past the client. */
  tellMongoses(command: Document): Promise<void>
  fault(text: string): Promise<string>
  heal(id: string): Promise<void>
  wait(ms: number): Promise<void>
  stop(): Promise<void>
}

export type SpokenSession = { readonly of: ClientSession | DriverSession }

const publicLabels: ReadonlySet<string> = new Set([
  'RetryableWriteError',
  'TransientTransactionError',
  'NoWritesPerformed',
  'SystemOverloadedError',
  'RetryableError',
])
const labels = (all: readonly string[]): string[] => all.filter((label) => publicLabels.has(label)).toSorted()

export const heartbeatMs = 500
export const selectionMs = 1000
const clusterOptions = (options: ClusterOptions): ClusterOptions => ({
  shards: 2,
  findReplicaSetHostTimeoutMs: 60,
  networkTimeoutMs: 60,
  // Rounds of the balancer would interfere with the script.
  balancerRoundIntervalMs: 2 ** 31 - 1,
  ...options,
})

/** Some faults end by themselves. */
async function healed(faults: Faults, id: string): Promise<void> {
  if (faults.list().some((fault) => fault.id === id)) await faults.heal(id)
}

/** Numbers sessions and mongoses in the order of their first use. */
class SentLog {
  readonly #sessions: string[] = []
  #last = ''
  #log: Sent[] = []

  add(command: Document, to: string): void {
    const lsid = command['lsid'] === undefined ? null : String(command['lsid'].id)
    if (lsid !== null && !this.#sessions.includes(lsid)) this.#sessions.push(lsid)
    this.#log.push({
      name: Object.keys(command)[0]!,
      session: lsid === null ? null : this.#sessions.indexOf(lsid),
      txnNumber: command['txnNumber'] === undefined ? null : Number(command['txnNumber']),
      waitsForSession: command['readConcern']?.afterClusterTime !== undefined,
      tellsTime: command['$clusterTime'] !== undefined,
      batchSize: command['batchSize'] ?? command['cursor']?.batchSize ?? null,
      elsewhere: this.#last !== '' && this.#last !== to,
    })
    this.#last = to
  }

  take(): Sent[] {
    this.#last = ''
    return this.#log.splice(0)
  }
}

export async function speakSimulated(options: ClusterOptions, retries: boolean): Promise<Speaker> {
  const cluster = await createSimulatedCluster({ ...clusterOptions(options), serverTimings: false, seed: 5 })
  const log = new SentLog()
  const client: Client = createClient(cluster, {
    heartbeatMs,
    serverSelectionTimeoutMs: selectionMs,
    retryReads: retries,
    retryWrites: retries,
    onCommand: ({ command, to }) => log.add(command, to),
  })
  await cluster.advance(10)
  const failure = ({ kind, code, labels: all }: Failed): Result => ({ ok: false, kind, code, labels: labels(all) })
  const valueOf = (reply: Document): Result => {
    if (reply['nErrors'] === 0) return { ok: true, value: null }
    const [error] = errorsOf(reply)
    if (error !== undefined) return { ok: false, kind: 'command', code: error['code'] as number, labels: [] }
    if (reply['writeConcernError'] !== undefined)
      return {
        ok: false,
        kind: 'command',
        code: reply['writeConcernError'].code,
        labels: labels(reply['errorLabels'] ?? []),
      }
    return { ok: true, value: reply['value'] ?? reply['values'] ?? reply['n'] ?? null }
  }
  const optionsOf = (session: SpokenSession | undefined, runCommand = false): RunOptions => ({
    ...(session === undefined ? {} : { session: session.of as ClientSession }),
    ...(runCommand ? { retryable: false } : {}),
  })
  return {
    async run(command, { session, runCommand } = {}) {
      const name = Object.keys(command)[0]!
      const how = optionsOf(session, runCommand)
      if (runCommand !== true && ['find', 'aggregate', 'listCollections'].includes(name)) {
        const cursor = await cluster.during(client.cursor(command, how))
        if ('kind' in cursor) return failure(cursor)
        const { documents, failure: failed } = await cluster.during(cursor.all())
        return failed === null ? { ok: true, value: documents.length } : failure(failed)
      }
      const outcome = await cluster.during(client.run(command, how))
      return outcome.ok ? valueOf(outcome.reply) : failure(outcome)
    },
    async read(command, between, most = Infinity) {
      const cursor = await cluster.during(client.cursor(command))
      if ('kind' in cursor) return failure(cursor)
      let count = 0
      for (
        let batch = await cluster.during(cursor.next());
        batch !== null;
        batch = await cluster.during(cursor.next())
      ) {
        count += batch.length
        if (cursor.exhausted || count >= most) break
        await between()
      }
      await cluster.during(cursor.close())
      return cursor.failure === null ? { ok: true, value: count } : failure(cursor.failure)
    },
    session: () => ({ of: client.startSession() }),
    end: async ({ of }) => (of as ClientSession).end(),
    sent: () => log.take(),
    async tellMongoses(command) {
      for (const to of cluster.mongos) {
        const reply = decode(await cluster.command(encode({ ...command, $db: 'admin' }), { to }))
        if (reply['ok'] !== 1) throw new Error(String(reply['errmsg']))
      }
    },
    fault: async (text) => (await cluster.faults.apply(text)).id,
    heal: (id) => healed(cluster.faults, id),
    wait: (ms) => cluster.advance(ms),
    stop: async () => {
      await cluster.during(client.close())
      await cluster.stop()
    },
  }
}

export async function speakThroughDriver(options: ClusterOptions, retries: boolean): Promise<Speaker> {
  const cluster = await ShardedCluster.start({ runtime: 'inline', seed: 5, ...clusterOptions(options) })
  const log = new SentLog()
  const client = new MongoClient(cluster.uri, {
    heartbeatFrequencyMS: heartbeatMs,
    serverSelectionTimeoutMS: selectionMs,
    monitorCommands: true,
    retryReads: retries,
    retryWrites: retries,
  })
  client.on('commandStarted', ({ command, address, commandName }) => {
    if (commandName !== 'endSessions') log.add(command, address)
  })
  await client.connect()
  const hosts = cluster.uri
    .replace(/^mongodb:\/\//, '')
    .replace(/\/.*$/, '')
    .split(',')
  const admins = hosts.map((host) => new MongoClient(`mongodb://${host}/?directConnection=true`))
  return {
    async run({ $db, ...command }, { session, runCommand } = {}) {
      const db = client.db($db as string)
      const of = session === undefined ? {} : { session: session.of as DriverSession }
      try {
        if (command['bulkWrite'] !== undefined) {
          await client.bulkWrite(bulkModels(command), of)
          return { ok: true, value: null }
        }
        return { ok: true, value: (await helped(db, command, of, runCommand === true)) ?? null }
      } catch (error) {
        return resultOf(error)
      }
    },
    async read({ $db, find, filter, batchSize }, between, most = Infinity) {
      const cursor = client
        .db($db as string)
        .collection(find)
        .find(filter ?? {}, { batchSize })
      let count = 0
      try {
        while (await cursor.hasNext()) {
          count += cursor.readBufferedDocuments().length
          if (cursor.id === undefined || cursor.id.isZero() || count >= most) break
          await between()
        }
        return { ok: true, value: count }
      } catch (error) {
        return resultOf(error)
      } finally {
        await cursor.close()
      }
    },
    session: () => ({ of: client.startSession() }),
    end: ({ of }) => (of as DriverSession).endSession(),
    sent: () => log.take(),
    async tellMongoses(command) {
      for (const admin of admins) await admin.db('admin').command(command)
    },
    fault: async (text) => (await cluster.faults.apply(text)).id,
    heal: (id) => healed(cluster.faults, id),
    wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    stop: async () => {
      await Promise.all([client, ...admins].map((each) => each.close()))
      await cluster.stop()
    },
  }
}

/** Runs the driver's helper for a command. */
async function helped(
  db: Db,
  command: Document,
  options: { session?: DriverSession },
  runCommand: boolean,
): Promise<unknown> {
  const [name, target] = Object.entries(command)[0]! as [string, string]
  const coll: Collection = db.collection(String(target))
  const write = command['writeConcern'] === undefined ? options : { ...options, writeConcern: command['writeConcern'] }
  if (runCommand) return (await db.command(command, options))['n']
  switch (name) {
    case 'find':
      return (await coll.find(command['filter'] ?? {}, { ...options, batchSize: command['batchSize'] }).toArray())
        .length
    case 'aggregate':
      return (await coll.aggregate(command['pipeline'], options).toArray()).length
    case 'distinct':
      return coll.distinct(command['key'], command['query'] ?? {}, options)
    case 'count':
      return coll.estimatedDocumentCount(options)
    case 'listCollections':
      return (await db.listCollections({}, options).toArray()).length
    case 'insert':
      if (command['documents'].length === 1)
        return (await coll.insertOne(command['documents'][0], write)).acknowledged ? 1 : 0
      return (await coll.insertMany(command['documents'], { ordered: command['ordered'] ?? true, ...write }))
        .insertedCount
    case 'update': {
      const { q, u, multi } = command['updates'][0]
      const done = multi === true ? await coll.updateMany(q, u, write) : await coll.updateOne(q, u, write)
      return done.matchedCount
    }
    case 'delete': {
      const { q, limit } = command['deletes'][0]
      return (await (limit === 0 ? coll.deleteMany(q, write) : coll.deleteOne(q, write))).deletedCount
    }
    case 'findAndModify':
      return coll.findOneAndUpdate(command['query'], command['update'], options)
    default:
      throw new Error(`no helper for ${name}`)
  }
}

/** The statements of the command bulkWrite in the driver's form. */
function bulkModels({ ops, nsInfo }: Document): AnyClientBulkWriteModel<Document>[] {
  return (ops as Document[]).map((op) => {
    const namespace = nsInfo[0].ns as string
    if (op['insert'] !== undefined) return { name: 'insertOne', namespace, document: op['document'] }
    return {
      name: op['multi'] === true ? 'updateMany' : 'updateOne',
      namespace,
      filter: op['filter'],
      update: op['updateMods'],
    }
  })
}

function resultOf(error: unknown): Result {
  // The simulated client does the same.
  if (error instanceof MongoClientBulkWriteError && error.cause instanceof Error) return resultOf(error.cause)
  if (error instanceof MongoServerSelectionError) return { ok: false, kind: 'selection', code: null, labels: [] }
  if (error instanceof MongoNetworkError)
    return { ok: false, kind: 'network', code: null, labels: labels(error.errorLabels) }
  if (error instanceof MongoBulkWriteError && error.code === undefined) {
    // The driver keeps the labels of a network error, and drops its class.
    const kind = error.errorLabels.length > 0 ? 'network' : 'selection'
    return { ok: false, kind, code: null, labels: labels(error.errorLabels) }
  }
  if (error instanceof MongoServerError)
    return { ok: false, kind: 'command', code: Number(error.code), labels: labels(error.errorLabels) }
  throw error
}
