import { catalogue, RequestFailedError, type Address, type MessageKind, type RequestOf } from '@shardlab/actor'
import { FakeContext } from '@shardlab/actor/testing'
import { decode, encode, type Document } from '@shardlab/bson'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { SetContext } from '../src/index.js'

const members = ['s-1', 's-2', 's-3']
const kind = 'config.get-shards' satisfies MessageKind
const request: RequestOf<typeof kind> = {}
const findPrimary = 'replication.find-primary'

type Answer = object | RequestFailedError | undefined

const fine = { shards: [], clusterTime: [1, 1] }
const down = undefined
const secondary = (term = 1) => ({ isWritable: false, term, primary: null })
const primary = (term = 1) => ({ isWritable: true, term, primary: null })

function refusal(primaryHint: Address | null = null): RequestFailedError {
  return new RequestFailedError('unreachable', 's-?', 's-? is not primary', true, primaryHint)
}

function lost(): RequestFailedError {
  return new RequestFailedError('unreachable', 's-?', 's-? crashed before it answered', false)
}

/** Each member answers with its next answers, and its last one again and again. */
class Script {
  readonly log: string[] = []
  readonly context: FakeContext
  readonly set: SetContext
  readonly #answers: Readonly<Record<string, Answer[]>>

  constructor(answers: Readonly<Record<string, readonly Answer[]>>, timeoutMs = 1000) {
    this.#answers = Object.fromEntries(Object.entries(answers).map(([key, list]) => [key, [...list]]))
    this.context = new FakeContext('a', { sets: { s: members }, peers: (to, asked) => this.#answer(to, asked) })
    this.set = new SetContext(this.context, timeoutMs)
  }

  ask(to: Address = 's'): Promise<unknown> {
    return this.set.request(to, kind, request)
  }

  /** What was asked since the last call: `s-1?` looks for the primary, `s-1` is the request. */
  asked(): string {
    return this.log.splice(0).join(' ')
  }

  #answer(to: Address, asked: MessageKind): unknown {
    const key = asked === findPrimary ? `${to}?` : to
    this.log.push(key)
    const list = this.#answers[key] ?? [down]
    const answer = list.length > 1 ? list.shift() : list[0]
    if (answer instanceof RequestFailedError) throw answer
    return answer
  }
}

const look = 's-1? s-2? s-3?'

t.test('the primary is looked for once, and cached until it fails', async (t) => {
  const script = new Script({
    's-1?': [secondary()],
    's-2?': [primary(), primary(), secondary(2)],
    's-3?': [secondary(), secondary(), primary(2)],
    's-2': [fine, fine, lost(), down],
    's-3': [fine],
  })
  await t.resolves(script.ask())
  t.equal(script.asked(), `${look} s-2`)
  await t.resolves(script.ask())
  t.equal(script.asked(), 's-2')
  await t.rejects(script.ask(), { name: 'RequestFailedError', reason: 'unreachable', undelivered: false, to: 's' })
  t.equal(script.asked(), 's-2', 'a request that may have run is not repeated')
  await t.resolves(script.ask())
  t.equal(script.asked(), `${look} s-2 ${look} s-3`)
})

t.test('a command that its receiver refuses as secondary is sent to the next primary', async (t) => {
  const body = (document: Document) => ({ body: encode(document), operationTime: [1, 1], clusterTime: [1, 1] })
  const script = new Script({
    's-1?': [primary(), secondary(2)],
    's-2?': [secondary(), secondary(2), primary(2)],
    's-3?': [secondary(), secondary(2)],
    's-1': [body({ ok: 1 }), body({ ok: 0, code: 10107, errmsg: 'not primary' })],
    's-2': [body({ ok: 0, code: 189, errmsg: 'stepped down' }), body({ ok: 1 })],
  })
  const command = async () => {
    const { request } = catalogue['node.command'].example
    return decode((await script.set.request('s', 'node.command', request)).body)
  }
  t.match(await command(), { ok: 1 })
  t.equal(script.asked(), `${look} s-1`)
  t.match(await command(), { code: 189 }, 'a command that may have run is not repeated')
  t.equal(script.asked(), `s-1 ${look} ${look} s-2`)
  t.match(await command(), { ok: 1 })
  t.equal(script.asked(), `${look} s-2`)
})

t.test('one search serves all requests that wait for it', async (t) => {
  const script = new Script({ 's-1?': [primary()], 's-2?': [secondary()], 's-3?': [secondary()], 's-1': [fine] })
  await Promise.all([script.ask(), script.ask(), script.ask()])
  t.equal(script.asked(), `${look} s-1 s-1 s-1`)
})

t.test('the hint of a member that refuses is tried at once, then all members are asked', async (t) => {
  const script = new Script({
    's-1?': [primary(), secondary(2)],
    's-2?': [secondary(), secondary(2)],
    's-3?': [secondary(), primary(2)],
    's-1': [fine, refusal('s-2'), refusal('elsewhere')],
    's-2': [fine, refusal('s-1')],
    's-3': [fine],
  })
  await script.ask()
  script.asked()
  await t.resolves(script.ask())
  t.equal(script.asked(), 's-1 s-2')
  await t.resolves(script.ask())
  t.equal(script.asked(), `s-2 s-1 ${look} s-3`, 'members that point at each other')
  t.same(script.context.sleeps, [], 'without a pause')
})

t.test('the writable member of the newest term is chosen', async (t) => {
  const script = new Script({ 's-1?': [primary(3)], 's-2?': [secondary(4)], 's-3?': [primary(4)], 's-3': [fine] })
  await script.ask()
  t.equal(script.asked(), `${look} s-3`)

  const isolated = new Script({ 's-1?': [primary(3)], 's-1': [fine] })
  await isolated.ask()
  t.equal(isolated.asked(), `${look} s-1`, 'the only one that answers may be a replaced primary')
})

t.test('a majority decides without the members that do not answer', async (t) => {
  const never = new Promise(() => {})
  const script = new Script({
    's-1?': [never],
    's-2?': [primary(), primary()],
    's-3?': [secondary()],
    's-2': [fine],
  })
  await t.resolves(script.ask())
})

t.test('a request waits for an election, and fails as for a member that is down', async (t) => {
  const script = new Script(
    {
      's-1?': [secondary(), secondary(), secondary(), primary(2), secondary(3)],
      's-2?': [secondary()],
      's-1': [fine, refusal()],
    },
    100,
  )
  await t.resolves(script.ask())
  t.same(script.context.sleeps.splice(0), [5, 10, 20], 'the pauses of the search for a member')
  script.asked()
  await t.rejects(script.ask(), { name: 'RequestFailedError', reason: 'unreachable', undelivered: true, to: 's' })
  t.same(script.context.sleeps.splice(0), [5, 10, 20, 40, 25])
  t.equal(script.asked(), `s-1${` ${look}`.repeat(6)}`)
})

t.test('a pinned request is not searched for, and other failures end a request', async (t) => {
  const script = new Script({
    's-1?': [primary()],
    's-2?': [secondary()],
    's-1': [fine, refusal('s-2'), new RequestFailedError('timed-out', 's-1', 's-1 did not answer')],
    's-2': [fine],
  })
  await script.ask()
  script.asked()
  await t.rejects(script.set.request('s', kind, request, { pinned: true }), {
    name: 'RequestFailedError',
    undelivered: true,
    to: 's',
  })
  t.equal(script.asked(), 's-1')
  await t.rejects(script.ask(), { name: 'RequestFailedError', reason: 'timed-out', to: 's' })
  t.equal(script.asked(), `${look} s-1`)
  await t.rejects(script.ask(), { name: 'RequestFailedError', reason: 'timed-out' })
  t.equal(script.asked(), 's-1', 'a slow primary stays the primary')
})

t.test('an address reaches its member, also one of a set, with a search of that member alone', async (t) => {
  const script = new Script({ 's-2': [fine], b: [down, down, fine] })
  await t.resolves(script.ask('s-2'))
  t.equal(script.asked(), 's-2')
  await t.resolves(script.ask('b'))
  t.equal(script.asked(), 'b b b')
  t.same(script.context.sleeps, [5, 10])
})

t.test('a notice reaches the primary that is known, or is lost', async (t) => {
  const script = new Script({ 's-3?': [primary()], 's-3': [fine] })
  script.set.send('s', kind, request)
  t.same(script.context.sent, [])
  await script.ask()
  script.set.send('s', kind, request)
  script.set.send('b', kind, request)
  script.set.send('s-1', kind, request)
  t.same(
    script.context.sent.map(([to]) => to),
    ['s-3', 'b', 's-1'],
  )
})

type Outcome = 'fine' | 'refused' | 'hint' | 'down' | 'lost' | 'timed-out'

t.test('no request is sent again unless it certainly did not run', async (t: Test) => {
  const outcome = fc.constantFrom<Outcome>('fine', 'refused', 'hint', 'hint', 'down', 'lost', 'timed-out')
  const status = fc.option(fc.record({ isWritable: fc.boolean(), term: fc.nat(3) }))
  await fc.assert(
    fc.asyncProperty(
      fc.array(outcome, { minLength: 1 }),
      fc.array(status, { minLength: 1 }),
      fc.nat(40),
      async (outcomes, statuses, timeoutMs) => {
        let [ran, statusesGiven, outcomesGiven] = [0, 0, 0]
        const peers = (to: Address, asked: MessageKind): unknown => {
          if (!members.includes(to)) throw new Error(`a message to ${to}`)
          if (asked === findPrimary) {
            const given = statuses[statusesGiven++ % statuses.length]!
            return given === null ? undefined : { ...given, primary: null }
          }
          const given = outcomes[outcomesGiven++ % outcomes.length]!
          if (given === 'fine' || given === 'lost' || given === 'timed-out') ran++
          switch (given) {
            case 'fine':
              return fine
            case 'refused':
              throw refusal()
            case 'hint':
              throw refusal(members[outcomesGiven % members.length])
            case 'down':
              return undefined
            case 'lost':
              throw lost()
            case 'timed-out':
              throw new RequestFailedError('timed-out', to, 'late')
          }
        }
        const context = new FakeContext('a', { sets: { s: members }, peers })
        const began = context.nowMs
        const set = new SetContext(context, timeoutMs)
        for (let i = 0; i < 3; i++) {
          ran = 0
          const result = await set.request('s', kind, request).then(
            () => null,
            (error: unknown) => error as RequestFailedError,
          )
          if (result !== null && result.to !== 's') return false
          const mayHaveRun = result === null || !result.undelivered
          if (ran !== (mayHaveRun ? 1 : 0)) return false
        }
        return context.nowMs - began <= 3 * timeoutMs
      },
    ),
    { numRuns: 500 },
  )
  t.pass()
})
