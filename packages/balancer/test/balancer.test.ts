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
import { encode, type Document } from '@shardlab/bson'
import t from 'tap'
import { createBalancer } from '../src/index.js'

/** A balancer and the settings that it reads; timers go off when the test says so. */
class Round {
  readonly actor: Actor
  readonly timers = new Map<string, number>()
  readonly reached: string[] = []
  readonly warnings: string[] = []
  settings: Document | null = null
  away = false
  failing = false
  pause: Promise<void> | undefined

  constructor(roundIntervalMs = 1000) {
    const context: ActorContext = {
      address: 'balancer',
      endpoint: '',
      random: createRandom(1),
      disk: undefined as never,
      now: () => 0,
      request: async <K extends MessageKind>(to: Address, kind: K, _request: RequestOf<K>): Promise<ReplyOf<K>> => {
        if (to !== 'config' || kind !== 'config.get-balancer-settings') throw new Error(`nobody expected ${kind} to ${to}`)
        if (this.away) throw new RequestFailedError('timed-out', to, 'no answer')
        return { settings: this.settings === null ? null : encode(this.settings) } as ReplyOf<K>
      },
      send: () => {},
      sleep: async () => {},
      all: (values) => Promise.all(values),
      setTimer: (name, delayMs) => void this.timers.set(name, delayMs),
      clearTimer: (name) => void this.timers.delete(name),
      reach: async (step) => {
        this.reached.push(step)
        await this.pause
        if (this.failing) throw new StepFailedError(step)
      },
      emit: () => {},
      wants: () => false,
      log: (_level, message) => void this.warnings.push(message),
    }
    this.actor = createBalancer(context, { roundIntervalMs })
    void this.actor.start?.()
  }

  /** Lets the armed timer go off. */
  async next(): Promise<void> {
    if (!this.timers.delete('round')) throw new Error('no round is due')
    await this.actor.wake?.('round')
  }

  async status(): Promise<ReplyOf<'balancer.status'>> {
    return this.actor.receive('balancer.status', {}, 'mongos01')
  }
}

t.test('rounds follow each other', async (t) => {
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

t.test('status within a round', async (t) => {
  const balancer = new Round()
  const gate = createDeferred<void>()
  balancer.pause = gate.promise
  const round = balancer.next()
  t.match(await balancer.status(), { inBalancerRound: true, numBalancerRounds: 0 })
  gate.resolve()
  await round
  t.match(await balancer.status(), { inBalancerRound: false, numBalancerRounds: 1 })
})

t.test('off: no rounds, but it keeps looking', async (t) => {
  for (const settings of [
    { _id: 'balancer', mode: 'off', stopped: true },
    { _id: 'balancer', stopped: true },
    { _id: 'balancer', mode: 'off' },
  ]) {
    const balancer = new Round()
    balancer.settings = settings
    await balancer.next()
    t.same(await balancer.status(), { mode: 'off', inBalancerRound: false, numBalancerRounds: 0 }, JSON.stringify(settings))
    t.same(balancer.reached, [])
    balancer.settings = { _id: 'balancer', mode: 'full', stopped: false }
    await balancer.next()
    t.same(await balancer.status(), { mode: 'full', inBalancerRound: false, numBalancerRounds: 1 })
  }
})

t.test('without its config server it waits, and answers what it knew last', async (t) => {
  const balancer = new Round()
  balancer.settings = { _id: 'balancer', mode: 'off', stopped: true }
  await balancer.next()
  balancer.away = true
  await balancer.next()
  t.equal(balancer.warnings.length, 1)
  t.same(await balancer.status(), { mode: 'off', inBalancerRound: false, numBalancerRounds: 0 })
  balancer.away = false
  balancer.settings = null
  await balancer.next()
  t.same(await balancer.status(), { mode: 'full', inBalancerRound: false, numBalancerRounds: 1 })
})

t.test('a round that is made to fail is no end of rounds', async (t) => {
  const balancer = new Round()
  balancer.failing = true
  await balancer.next()
  t.equal(balancer.warnings.length, 1)
  t.match(await balancer.status(), { inBalancerRound: false, numBalancerRounds: 0 })
  balancer.failing = false
  await balancer.next()
  t.match(await balancer.status(), { numBalancerRounds: 1 })
})

t.test('what it does not serve', async (t) => {
  t.throws(() => new Round().actor.receive('config.get-shards', {}, 'mongos01'), /does not serve config\.get-shards/)
})
