/**
 * Two writes in a transaction, on one shard and on two, relative to the same writes outside. All
 * variants run in turns on one cluster, in short slices.
 */
import { cpus } from 'node:os'
import { MongoClient, type ClientSession, type Collection } from 'mongodb'
import { up } from '../support/up.js'
import type { BenchResult } from './bench.js'
import { ratios, spread } from './interleaved.js'

const rounds = 11
const concurrent = 16
const pairsOfSlice = 96
/** Of the documents of each shard; every client writes its own. */
const documentsOfClient = 8

type Accounts = Collection<{ _id: number; n: number }>

type Pair = readonly [first: number, second: number]

const placements = ['one shard', 'two shards'] as const
const ways = ['outside', 'in a transaction'] as const

export async function measure(): Promise<BenchResult> {
  const rows: { name: string; value: string }[] = []
  for (const members of [1, 3]) {
    for (const clients of [1, concurrent]) {
      const measured = await measuredOn(members, clients)
      for (const placement of placements) {
        const inside = measured.get(`${placement}, in a transaction`)!
        const outside = measured.get(`${placement}, outside`)!
        rows.push({
          name: `${placement}, ${members === 1 ? 'one member' : 'three members'}, ${clients === 1 ? 'one client' : `${clients} clients`}: time, as a ratio`,
          value: spread(ratios(inside, outside)),
        })
      }
    }
  }
  return {
    title: 'transactions: two updates in a transaction, relative to the same two outside, with w: "majority"',
    rows,
    note: `Figures of the emulator, not of MongoDB. Median, least and most of ${rounds} rounds, in each of which all variants run in turns, ${pairsOfSlice} pairs each; two shards and a router on threads of another process. Node ${process.version}, ${cpus().length} cores.`,
  }
}

/** Milliseconds of each slice, by placement and way. */
async function measuredOn(members: number, clients: number): Promise<Map<string, number[]>> {
  const running = await up('--port', '0', '--quiet', '--shards', '2', '--members', String(members))
  const client = await MongoClient.connect(running.ready.uri, { maxPoolSize: clients, writeConcern: { w: 'majority' } })
  try {
    const accounts = await accountsOf(client, clients)
    const sessions = Array.from({ length: clients }, () => client.startSession())
    const times = new Map<string, number[]>()
    // Round 0 warms up.
    for (let round = 0; round <= rounds; round++)
      for (const placement of placements)
        for (const way of ways) {
          const beganMs = performance.now()
          await Promise.all(
            sessions.map(async (session, i) => {
              for (let n = 0; n < pairsOfSlice / clients; n++) {
                const pair = pairOf(placement, i * documentsOfClient + 2 * (n % (documentsOfClient / 2)))
                await (way === 'outside' ? writeOutside(accounts, pair) : writeInTransaction(accounts, pair, session))
              }
            }),
          )
          const name = `${placement}, ${way}`
          if (round > 0) times.set(name, [...(times.get(name) ?? []), performance.now() - beganMs])
        }
    return times
  } finally {
    await client.close()
    await running.stop()
  }
}

async function accountsOf(client: MongoClient, clients: number): Promise<Accounts> {
  const admin = client.db('admin')
  await admin.command({ shardCollection: 'bank.accounts', key: { _id: 1 } })
  await admin.command({ split: 'bank.accounts', middle: { _id: 0 } })
  await admin.command({ moveChunk: 'bank.accounts', find: { _id: -1 }, to: 'shard01' })
  await admin.command({ moveChunk: 'bank.accounts', find: { _id: 0 }, to: 'shard02' })
  const accounts = client.db('bank').collection<{ _id: number; n: number }>('accounts')
  const ids = Array.from({ length: clients * documentsOfClient }, (_, i) => [i, -1 - i]).flat()
  await accounts.insertMany(ids.map((_id) => ({ _id, n: 0 })))
  return accounts
}

/** Negative numbers are on the first shard. */
const pairOf = (placement: (typeof placements)[number], number: number): Pair =>
  placement === 'one shard' ? [number, number + 1] : [number, -1 - number]

async function writeOutside(accounts: Accounts, pair: Pair): Promise<void> {
  for (const _id of pair) await accounts.updateOne({ _id }, { $inc: { n: 1 } })
}

async function writeInTransaction(accounts: Accounts, pair: Pair, session: ClientSession): Promise<void> {
  session.startTransaction()
  for (const _id of pair) await accounts.updateOne({ _id }, { $inc: { n: 1 } }, { session })
  await session.commitTransaction()
}
