import {
  createDeferred,
  createRandom,
  RequestFailedError,
  StepFailedError,
  type Actor,
  type ActorContext,
  type Address,
  type MessageKind,
  type ReplyOf,
  type RequestOf,
} from '@shardlab/actor'
import { decode, encode, type Document } from '@shardlab/bson'
import t from 'tap'
import { createBalancer } from '../src/index.js'

class Round {
  readonly actor: Actor
  readonly timers = new Map<string, number>()
  readonly reached: string[] = []
  readonly warnings: string[] = []
  readonly actions: Document[] = []
  settings: Document | null = null
  away = false
  failing = false
  pause: Promise<void> | undefined

  constructor(roundIntervalMs = 1000) {
    const context: ActorContext = {
      address: 'balancer',
      endpoint: '',
      random: createRandom(1),
      secretBytes: (length) => new Uint8Array(length),
      disk: undefined as never,
      now: () => 0,
      steadyNow: () => 0,
      resolve: (name) => [name],
      request: async <K extends MessageKind>(to: Address, kind: K, request: RequestOf<K>): Promise<ReplyOf<K>> => {
        if (this.away) throw new RequestFailedError('timed-out', to, 'no answer')
        switch (kind) {
          case 'config.get-balancer-settings':
            return {
              settings: this.settings === null ? null : encode(this.settings),
              pauses: [1000, 0, 3600, 15_000],
            } as unknown as ReplyOf<K>
          case 'config.get-shards':
            return { shards: [], clusterTime: [1, 1] } as unknown as ReplyOf<K>
          case 'config.get-collections':
            return { collections: [] } as unknown as ReplyOf<K>
          case 'config.log-action':
            this.actions.push(decode((request as RequestOf<'config.log-action'>).details))
            return {} as ReplyOf<K>
          default:
            throw new Error(`unexpected request ${kind} to ${to}`)
        }
      },
      send: () => {},
      sleep: async () => {},
      nextTurn: async () => {},
      pageFaults: () => 0,
      tls: () => null,
      port: () => null,
      exit: () => {},
      all: (values) => Promise.all(values),
      detach: (work) => void work,
      setTimer: (name, delayMs) => void this.timers.set(name, delayMs),
      clearTimer: (name) => void this.timers.delete(name),
      reach: async (step) => {
        this.reached.push(step)
        if (step !== 'balancer.round.started') return
        await this.pause
        if (this.failing) throw new StepFailedError(step)
      },
      attach: (_, pack) => pack(),
      mutated: () => false,
      emit: () => {},
      wants: () => false,
      log: (_level, message) => void this.warnings.push(message),
    }
    this.actor = createBalancer(context, { roundIntervalMs, emulate: '6.0' })
    void this.actor.start?.()
  }

  async next(): Promise<void> {
    if (!this.timers.delete('round')) throw new Error('no round is due')
    await this.actor.wake?.('round')
  }

  async status(): Promise<ReplyOf<'balancer.status'>> {
    return this.actor.receive('balancer.status', {}, 'mongos01')
  }
}

t.test('the next round starts one interval after the last', async (t) => {
  const balancer = new Round(1234)
  t.same([...balancer.timers], [['round', 1234]])
  t.same(await balancer.status(), { mode: 'full', inBalancerRound: false, numBalancerRounds: 0 })
  for (let i = 0; i < 3; i++) await balancer.next()
  t.same([...balancer.timers], [['round', 1234]])
  t.same(await balancer.status(), { mode: 'full', inBalancerRound: false, numBalancerRounds: 3 })
  t.same(balancer.actor.describe?.(), { rounds: 3, inRound: false })
  await balancer.actor.wake?.('another timer')
  t.equal((await balancer.status()).numBalancerRounds, 3)
})

t.test('status reports a running round', async (t) => {
  const balancer = new Round()
  const gate = createDeferred<void>()
  balancer.pause = gate.promise
  const round = balancer.next()
  t.match(await balancer.status(), { inBalancerRound: true, numBalancerRounds: 0 })
  gate.resolve()
  await round
  t.match(await balancer.status(), { inBalancerRound: false, numBalancerRounds: 1 })
})

t.test('with the balancer off, rounds read nothing and still count', async (t) => {
  for (const settings of [
    { _id: 'balancer', mode: 'off', stopped: true },
    { _id: 'balancer', stopped: true },
    { _id: 'balancer', mode: 'off' },
  ]) {
    const balancer = new Round()
    balancer.settings = settings
    await balancer.next()
    t.same(
      await balancer.status(),
      { mode: 'off', inBalancerRound: false, numBalancerRounds: 1 },
      JSON.stringify(settings),
    )
    t.same(balancer.reached, [])
    balancer.settings = { _id: 'balancer', mode: 'full', stopped: false }
    await balancer.next()
    t.same(await balancer.status(), { mode: 'full', inBalancerRound: false, numBalancerRounds: 2 })
    t.same(balancer.reached, ['balancer.round.started', 'balancer.round.selected'])
  }
})

t.test('without a config server the status reports the mode read last', async (t) => {
  const balancer = new Round()
  balancer.settings = { _id: 'balancer', mode: 'off', stopped: true }
  await balancer.next()
  balancer.away = true
  await balancer.next()
  t.equal(balancer.warnings.length, 1)
  t.same(await balancer.status(), { mode: 'off', inBalancerRound: false, numBalancerRounds: 2 })
  balancer.away = false
  balancer.settings = null
  await balancer.next()
  t.same(await balancer.status(), { mode: 'full', inBalancerRound: false, numBalancerRounds: 3 })
})

t.test('a failed round is followed by the next', async (t) => {
  const balancer = new Round()
  balancer.failing = true
  await balancer.next()
  t.equal(balancer.warnings.length, 1)
  t.match(balancer.actions, [{ errorOccurred: true, errmsg: 'step balancer.round.started was made to fail' }])
  t.match(await balancer.status(), { inBalancerRound: false, numBalancerRounds: 1 })
  balancer.failing = false
  await balancer.next()
  t.match(await balancer.status(), { numBalancerRounds: 2 })
})

t.test('an unknown message is refused', async (t) => {
  t.throws(() => new Round().actor.receive('config.get-shards', {}, 'mongos01'), /does not serve config\.get-shards/)
})

t.test('a round on demand follows the running one and returns its report', async (t) => {
  const balancer = new Round()
  const gate = createDeferred<void>()
  balancer.pause = gate.promise
  const timed = balancer.next()
  const asked = balancer.actor.receive('balancer.run-round', {}, 'cluster')
  gate.resolve()
  await timed
  const { report } = await asked
  t.same(JSON.parse(report), {
    type: 'balancer-round',
    atMs: 0,
    round: 2,
    skipped: null,
    splits: [],
    migrations: [],
    blocked: [],
    defragmenting: [],
    durationMs: 0,
  })
  balancer.settings = { _id: 'balancer', stopped: true }
  const skipped = await balancer.actor.receive('balancer.run-round', {}, 'cluster')
  t.match(JSON.parse(skipped.report), { round: 3, skipped: 'the balancer is stopped' })
})
