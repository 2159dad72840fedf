/** Every fault verb on every runtime: what clients see during the fault and after it. */
import { Binary, Long, type Document } from '@shardlab/bson'
import { faultVerbs, parseFault } from '@shardlab/cluster'
import t from 'tap'
import { faultTable, type FaultRow, type Outcomes } from './fault-table.js'
import { faultWorlds, type FaultWorld } from './fault-worlds.js'

const db = 'app'
const coll = 'things'
const lsid = { id: new Binary(Buffer.alloc(16, 7), 4) }

/** Keys below 0 are on shard01, others on shard02. */
async function fill(world: FaultWorld): Promise<void> {
  const commands: Document[] = [
    { enableSharding: db, primaryShard: 'shard01', $db: 'admin' },
    { shardCollection: `${db}.${coll}`, key: { x: 1 }, $db: 'admin' },
    { split: `${db}.${coll}`, middle: { x: 0 }, $db: 'admin' },
    { moveChunk: `${db}.${coll}`, find: { x: 1 }, to: 'shard02', $db: 'admin' },
    { insert: coll, documents: [-3, -2, -1, 1, 2, 3].map((x) => ({ _id: x, x })), $db: db },
  ]
  for (const command of commands) {
    const reply = await world.ask(command)
    if (reply?.['ok'] !== 1) throw new Error(`${JSON.stringify(command)}: ${JSON.stringify(reply)}`)
  }
}

function outcome(reply: Document | null): string {
  if (reply === null) return 'lost'
  const labels = (reply['errorLabels'] as string[] | undefined) ?? []
  const error = (reply['writeErrors'] as Document[] | undefined)?.[0] ?? reply['writeConcernError']
  const failed = error === undefined ? '' : `w${error['code']}${reply['n'] > 0 ? ` after ${reply['n']}` : ''}`
  const what = reply['ok'] !== 1 ? String(reply['code']) : failed === '' ? 'ok' : failed
  return [what, ...labels].join(' ')
}

class Play {
  readonly #world: FaultWorld
  #x = 100
  #txnNumber = 0

  constructor(world: FaultWorld) {
    this.#world = world
  }

  async row([fault, expected]: FaultRow): Promise<Outcomes> {
    const ask = async (command: Document): Promise<string> => outcome(await this.#world.ask({ ...command, $db: db }))
    const find = (filter: Document): Promise<string> => ask({ find: coll, filter })
    const insert = (xs: readonly number[], rest: Document = {}): Promise<string> =>
      ask({ insert: coll, documents: xs.map((x) => ({ _id: x, x })), ...rest })
    const next = (): number => ++this.#x
    const opened = await this.#world.ask({ find: coll, batchSize: 2, $db: db })
    const { id } = await this.#world.faults.apply(fault)
    const seen = {
      insert: await insert([next()]),
      find: await afterwards(() => find({ x: 1 }), expected.find),
      elsewhere: await find({ x: -1 }),
      broadcast: await find({}),
      retryable: await insert([next()], { lsid, txnNumber: Long.fromNumber(++this.#txnNumber) }),
      bulk: await insert([-next(), next(), -next()], { ordered: true }),
      getMore: await ask({ getMore: opened!['cursor'].id as Long, collection: coll }),
    }
    if (this.#world.faults.list().some((applied) => applied.id === id)) await this.#world.faults.heal(id)
    return { ...seen, healed: await find({ x: 1 }) }
  }
}

/** Asks again while the answer is the first one of `first, then second`. */
async function afterwards(ask: () => Promise<string>, expected: string): Promise<string> {
  const [first, second] = expected.split(', then ')
  let answer = await ask()
  while (second !== undefined && answer === first) answer = await ask()
  return answer
}

for (const [name, start] of Object.entries(faultWorlds)) {
  t.test(`${name}: during each fault, clients see what the table says (D900)`, async (t) => {
    const world = await start()
    t.teardown(() => world.stop())
    await fill(world)
    const play = new Play(world)
    for (const row of faultTable) {
      const [fault, expected] = row
      const seen = await play.row(row)
      for (const [question, outcomes] of Object.entries(expected)) {
        const answer = seen[question as keyof Outcomes]
        t.ok(outcomes.split(/\||, then /).includes(answer), `${fault}, ${question}: ${answer}, expected ${outcomes}`)
      }
    }
    t.match(
      await world.ask({ shardlab: 'list', $db: 'admin' }),
      { faults: [], ok: 1 },
      'no fault is left, as the wire command confirms',
    )
  })
}

t.test('every fault verb has a row in the table', async (t) => {
  const verbs = await Promise.all(faultTable.map(async ([fault]) => (await parseFault(fault)).verb))
  // `resume` needs a paused member, and `delay replication` a set of several members.
  t.same([...new Set<string>([...verbs, 'resume', 'delayReplication'])].toSorted(), faultVerbs.toSorted())
})
