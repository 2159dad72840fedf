/** Requests to a replica set while its primary steps down, crashes and returns. */
import {
  createRandom,
  NotPrimaryError,
  RequestFailedError,
  type Actor,
  type ActorContext,
  type ActorFactory,
  type Address,
  type MessageKind,
  type Random,
  type ReplyOf,
  type RequestOf,
} from '@shardlab/actor'
import { SetContext } from '@shardlab/member'
import { createSimulatedRuntime, type SimulatedRuntime } from '@shardlab/runtime'
import t from 'tap'

const addresses: readonly Address[] = ['s-1', 's-2', 's-3']
const clients = 4
const requestsEach = 25

/** What the members agree on, as if by a protocol, and the requests that they ran. */
class Group {
  primary: Address | null = 's-1'
  term = 1
  readonly ran = new Map<string, number>()

  elect(primary: Address | null): void {
    this.primary = primary
    if (primary !== null) this.term++
  }

  readonly member: ActorFactory<never> = (context) => ({
    receive: async <K extends MessageKind>(kind: K, request: RequestOf<K>): Promise<ReplyOf<K>> => {
      const isPrimary = this.primary === context.address
      if (kind === 'replication.find-primary')
        return { isWritable: isPrimary, term: this.term, primary: this.primary } as ReplyOf<K>
      if (!isPrimary) throw new NotPrimaryError(true, this.primary)
      const { term } = this
      const { id } = request as RequestOf<'config.get-setting'>
      this.ran.set(id, (this.ran.get(id) ?? 0) + 1)
      await context.sleep(context.random.below(4))
      if (this.term !== term || this.primary !== context.address) throw new NotPrimaryError(false)
      return { setting: null } as ReplyOf<K>
    },
  })
}

type Result = 'answered' | 'undelivered' | 'unknown'

class Client implements Actor {
  readonly results = new Map<string, Result>()
  readonly #set: SetContext
  readonly #context: ActorContext

  constructor(context: ActorContext) {
    this.#context = context
    this.#set = new SetContext(context, 300)
  }

  async play(): Promise<void> {
    for (let i = 0; i < requestsEach; i++) {
      const id = `${this.#context.address} ${i}`
      try {
        await this.#set.request('s', 'config.get-setting', { id }, i % 5 === 0 ? { pinned: true } : undefined)
        this.results.set(id, 'answered')
      } catch (error) {
        if (!(error instanceof RequestFailedError)) throw error
        this.results.set(id, error.undelivered ? 'undelivered' : 'unknown')
      }
      await this.#context.sleep(this.#context.random.below(30))
    }
  }

  receive<K extends MessageKind>(): ReplyOf<K> {
    throw new Error('nothing is asked of clients')
  }
}

async function change(runtime: SimulatedRuntime, group: Group, random: Random): Promise<void> {
  const states = new Map(runtime.members().map(({ address, state }) => [address, state]))
  const up = addresses.filter((address) => states.get(address) === 'running')
  switch (random.below(4)) {
    case 0:
      return group.elect(null)
    case 1:
      if (group.primary !== null) {
        const { primary } = group
        group.elect(null)
        await runtime.crash(primary)
      }
      return
    case 2: {
      const down = addresses.find((address) => states.get(address) === 'crashed')
      if (down !== undefined) await runtime.restart(down)
      return
    }
    default:
      if (up.length > 0) group.elect(up[random.below(up.length)]!)
  }
}

t.test('each request to a set runs at most once, and its result says whether it ran', async (t) => {
  const totals = { answered: 0, undelivered: 0, unknown: 0 }
  for (let seed = 1; seed <= 40; seed++) {
    const group = new Group()
    const runtime = createSimulatedRuntime({ roles: { member: group.member }, seed })
    const spec = { role: 'member', set: 's', options: null, listen: null, diskLimitBytes: 0 }
    await runtime.start(addresses.map((address) => ({ ...spec, address })))
    const players = Array.from({ length: clients }, (_, i) =>
      runtime.addOutsider(`client0${i + 1}`, (context) => new Client(context)),
    )
    const played = Promise.all(players.map((player) => player.play()))
    const random = createRandom(seed).fork('changes')
    let isOver = false
    void played.then(() => (isOver = true))
    while (!isOver) {
      await runtime.advance(1 + random.below(120))
      await change(runtime, group, random)
    }
    await played
    const wrong = players
      .flatMap(({ results }) => [...results])
      .filter(([id, result]) => {
        totals[result]++
        const times = group.ran.get(id) ?? 0
        return times > 1 || (result === 'answered' && times === 0) || (result === 'undelivered' && times > 0)
      })
    t.same(wrong, [], `seed ${seed}`)
    await runtime.stop()
  }
  const all = totals.answered + totals.undelivered + totals.unknown
  t.equal(all, 40 * clients * requestsEach)
  t.ok(totals.answered > all * 0.7, `${totals.answered} answered`)
  t.ok(totals.undelivered > 50 && totals.unknown > 50, `${totals.undelivered} undelivered, ${totals.unknown} unknown`)
})
