// Own process: the test measures the heap of this file alone.

/**
 * Commands that no driver sends, and invalid messages. Each command gets a valid reply; an invalid
 * message may close the connection instead. No member crashes, nothing hangs, and memory does not
 * grow. SHARDLAB_SEED=7 runs that seed, SHARDLAB_LONG=1 runs a million messages of a new seed
 * instead of 12,000.
 */
import t from 'tap'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createRandom } from '@shardlab/actor'
import { encode, EJSON, type Document } from '@shardlab/bson'
import { encodeCommand } from '@shardlab/wire'
import { ShardedCluster } from 'shardlab'
import { RawClient } from '../support/raw-client.js'
import { fuzzedCommand } from './commands.js'
import { damaged, readReply, repliesTo } from './damage.js'
import { once } from './values.js'
import { Watchdog } from './watchdog.js'

const { SHARDLAB_SEED, SHARDLAB_LONG } = process.env
// A fixed seed makes two runs comparable; a long run draws a new one.
const seed = SHARDLAB_SEED ?? (SHARDLAB_LONG === '1' ? String(Math.floor(Math.random() * 2 ** 31)) : '1')
const total = SHARDLAB_LONG === '1' ? 1_000_000 : 6_000

/** Data are dropped this often, so that heap growth shows leaks and not data. */
const roundLength = 2_000

/**
 * Allowed growth of the heap in the second half, when caches are full: the members' logs keep every
 * change until their checkpoint at 64 MB each, and cursors and sessions stay open for minutes. With
 * four seeds it was 7 to 29 MB for 10,000 messages, and 58 MB for the last 60,000 of 80,000.
 */
const allowedGrowthBytes = 24 * 1024 * 1024 + total * 300

/** Report only the first of many findings. */
const mostFindings = 40

/** Messages of JavaScript's own errors, which no code raises on purpose. */
const accident =
  /is not a function|not iterable|Cannot (read|set|mix|convert)|^Invalid (array|typed array|string) length$|call stack/

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void
// Test files may share a process, and code compiled under other flags is refused.
setFlagsFromString('--no-expose-gc')

function heapBytes(): number {
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** Commands that report wrong arguments without a code: server, ErrmsgCommandDeprecated. */
const codeless = new Set(['split', 'splitVector', 'mergeChunks', 'checkShardingIndex', 'cleanupOrphaned'])

/** The finding in a reply; null: none. */
function findingIn(reply: Document, command: Document): string | null {
  if (reply['ok'] === 1) return null
  // The server's answer to an OP_QUERY that is not a command.
  if (typeof reply['$err'] === 'string' && typeof reply['code'] === 'number') return null
  if (reply['ok'] !== 0) return `ok is ${String(reply['ok'])}`
  const { code, codeName, errmsg } = reply
  const mayLackCode = codeless.has(Object.keys(command)[0] ?? '')
  if (mayLackCode && code === undefined && codeName === undefined && typeof errmsg === 'string')
    return errmsg === '' || accident.test(errmsg) ? `an accident: ${errmsg}` : null
  if (typeof code !== 'number' || typeof codeName !== 'string' || typeof errmsg !== 'string')
    return `an error without code, codeName or errmsg: ${Object.keys(reply).join(' ')}`
  if (codeName === '' || errmsg === '') return 'an error without a name or a sentence'
  if (code === 1 || code === 8) return `${codeName}: ${errmsg}`
  return accident.test(errmsg) ? `an accident: ${errmsg}` : null
}

async function prepare(client: RawClient): Promise<void> {
  for (const db of ['fuzz', 'other', 'types', 'test']) await client.command({ dropDatabase: 1, $db: db })
  await client.command({ shardCollection: 'fuzz.sharded', key: { _id: 'hashed' }, $db: 'admin' })
  const documents = Array.from({ length: 20 }, (_, i) => ({ _id: i, a: i % 5, b: { c: i }, c: [i, i + 1], s: `x${i}` }))
  for (const name of ['things', 'sharded', 'other']) await client.command({ insert: name, documents, $db: 'fuzz' })
}

const asFinding = (error: Error): string => error.message

type Role = 'mongos' | 'shard'

/** A cluster whose members may crash: a new one replaces it. */
class Patient {
  readonly crashes: string[] = []
  #cluster: ShardedCluster | undefined
  readonly #clients = new Map<Role, RawClient>()

  endpoint(role: Role): string {
    const { mongos, shards } = this.#cluster!
    return role === 'mongos' ? mongos[0]! : new URL(shards[0]!.uri).host
  }

  /** A connection to a mongos, or directly to a shard. */
  async client(role: Role): Promise<RawClient> {
    if (this.crashes.length > 0) await this.stop()
    if (this.#cluster === undefined) {
      this.#cluster = await ShardedCluster.start({ shards: 2, runtime: 'inline' })
      this.#cluster.on('member', ({ member, state, error }) => {
        if (state === 'crashed') this.crashes.push(`${member.replace(/\d+/, '')} crashed: ${error}`)
      })
      await prepare(await this.client('mongos'))
    }
    let client = this.#clients.get(role)
    if (client === undefined) this.#clients.set(role, (client = await RawClient.connect(this.endpoint(role))))
    return client
  }

  /** Drops connections that are closed or should be replaced. */
  hangUp(): void {
    for (const client of this.#clients.values()) client.close()
    this.#clients.clear()
  }

  async stop(): Promise<void> {
    this.hangUp()
    await this.#cluster?.stop()
    this.#cluster = undefined
    this.crashes.length = 0
  }
}

t.setTimeout(3_600_000)

t.test(`${total} messages (again: SHARDLAB_SEED=${seed} npm test -- fuzz/)`, { timeout: 3_600_000 }, async (t) => {
  const patient = new Patient()
  const watchdog = new Watchdog(`the fuzz with SHARDLAB_SEED=${seed}`, 30_000)
  t.teardown(() => watchdog.stop())
  const findings = new Map<string, string>()
  let heapAtHalf = 0
  let errors = 0
  for (let i = 0; i < total && findings.size < mostFindings; i++) {
    if (i % roundLength === 0) {
      await prepare(await patient.client('mongos'))
      if (i >= total / 2 && heapAtHalf === 0) heapAtHalf = heapBytes()
    }
    watchdog.at(i)
    // A seed per message, so that one can be repeated alone.
    const random = createRandom(`${seed} ${i}`)
    const { db, command } = fuzzedCommand(random)
    const isDamaged = once(random, 10)
    const role = once(random, 8) ? 'shard' : 'mongos'
    const client = await patient.client(role)
    const bytes = encodeCommand(i + 1, encode({ ...command, $db: db }))
    const replies = isDamaged
      ? await repliesTo(patient.endpoint(role), damaged(random, bytes)).catch((error: Error) => [asFinding(error)])
      : [await client.exchange(bytes).then(readReply).catch(asFinding)]
    errors += replies.filter((reply) => typeof reply !== 'string' && reply['ok'] === 0).length
    for (const found of [
      ...replies.map((reply) => (typeof reply === 'string' ? reply : findingIn(reply, command))),
      ...patient.crashes,
    ]) {
      if (found === null || findings.has(found)) continue
      findings.set(
        found,
        `message ${i} to a ${role}${isDamaged ? ', damaged' : ''}: ${EJSON.stringify({ db, command }, { relaxed: true }).slice(0, 3_000)}`,
      )
    }
    if (replies.some((reply) => typeof reply === 'string')) patient.hangUp()
  }
  await prepare(await patient.client('mongos'))
  // As at half: after the data of the last round have been dropped.
  await prepare(await patient.client('mongos'))
  const grownBytes = heapBytes() - heapAtHalf
  for (const [finding, where] of findings) t.fail(finding, { where })
  t.ok(errors > total / 10 && errors < total, `${errors} were refused`)
  t.ok(grownBytes < allowedGrowthBytes, `the heap grew by ${Math.round(grownBytes / 1024)} KB`)
  await patient.stop()
})
