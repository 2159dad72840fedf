import {
  catalogue,
  NotPrimaryError,
  RequestFailedError,
  StepFailedError,
  type Actor,
  type ActorContext,
  type ActorFactory,
  type Address,
  type MessageKind,
  type ReplyOf,
  type RequestOf,
} from '@shardlab/actor'
import type { RoleLoaders } from '../../src/index.js'

const nodeExample = catalogue['node.command'].example

/** A toy request: the operation's name in `db`, its argument as JSON in the body. */
export function toyRequest(operation: string, argument: unknown = null): RequestOf<'node.command'> {
  return { ...nodeExample.request, db: operation, body: Buffer.from(JSON.stringify(argument)) }
}

export function toyAnswer(reply: ReplyOf<'node.command'>): unknown {
  return JSON.parse(Buffer.from(reply.body).toString())
}

function toyReply(value: unknown): ReplyOf<'node.command'> {
  return { ...nodeExample.reply, body: Buffer.from(JSON.stringify(value ?? null)) }
}

type Operation = (argument: never, from: Address) => unknown

function toyActor(operations: Readonly<Record<string, Operation>>, rest: Omit<Actor, 'receive'> = {}): Actor {
  return {
    ...rest,
    receive<K extends MessageKind>(kind: K, request: RequestOf<K>, from: Address): Promise<ReplyOf<K>> | ReplyOf<K> {
      if (kind !== 'node.command') throw new Error(`unexpected ${kind}`)
      const { db, body } = request as RequestOf<'node.command'>
      const result = operations[db]!(JSON.parse(Buffer.from(body).toString()) as never, from)
      if (result instanceof Promise) return result.then(toyReply) as Promise<ReplyOf<K>>
      return toyReply(result) as ReplyOf<K>
    },
  }
}

const echo: ActorFactory<never> = (context) => {
  return toyActor({
    echo: (value: unknown, from) => ({ value, from }),
    now: () => context.now(),
    endpoint: () => context.endpoint,
    random: () => context.random.uint32(),
    after: async (durationMs: number) => {
      await context.sleep(durationMs)
      return 'slept'
    },
    never: () => new Promise(() => {}),
    occupy: () => {
      // After the reply has left.
      setTimeout(() => {
        for (;;) continue
      }, 10)
    },
    throw: () => {
      throw new Error('on purpose')
    },
    refuse: (undelivered: boolean) => {
      throw new NotPrimaryError(undelivered, 'c')
    },
    refuseLater: async (undelivered: boolean) => {
      await context.sleep(1)
      throw new NotPrimaryError(undelivered)
    },
    throwLater: async () => {
      await context.sleep(1)
      throw new Error('on purpose, later')
    },
    detach: async () => {
      const work = async () => {
        await context.sleep(1)
        throw new Error('on purpose, in detached work')
      }
      context.detach(work())
      await context.sleep(10_000)
    },
    float: async () => {
      void Promise.reject(new Error('floating on purpose'))
      await context.sleep(10_000)
    },
  })
}

const counter: ActorFactory<never> = (context) => {
  let sum = 0
  const record = (value: number) => Buffer.from(String(value))
  return toyActor(
    {
      add: async (value: number) => {
        await context.disk.append(record(value))
        sum += value
        return sum
      },
      checkpoint: async () => {
        await context.disk.writeCheckpoint(record(sum))
        return sum
      },
      sum: () => sum,
      fill: async (sizeBytes: number) => {
        try {
          await context.disk.append(new Uint8Array(sizeBytes))
          return 'written'
        } catch (error) {
          return (error as Error).name
        }
      },
      appendForEver: () => {
        const bytes = new Uint8Array(64 * 1024)
        for (let value = 1; ; value++) {
          void context.disk.append(bytes.fill(value & 0xff))
          if (context.disk.usage().logBytes > 32 * 1024 * 1024)
            void context.disk.writeCheckpoint(bytes.fill(value & 0xff))
        }
      },
      audit: () => {
        const { checkpoint, records } = context.disk.read()
        const whole = (bytes: Uint8Array) => bytes.length === 64 * 1024 && bytes.every((byte) => byte === bytes[0])
        return {
          records: [...records].length,
          whole: [...records].every(whole) && (checkpoint === null || whole(checkpoint)),
        }
      },
    },
    {
      start() {
        const { checkpoint, records } = context.disk.read()
        if (checkpoint !== null) sum = Number(Buffer.from(checkpoint).toString())
        for (const bytes of records) if (bytes.length < 10) sum += Number(Buffer.from(bytes).toString())
      },
      describe: () => ({ sum }),
    },
  )
}

interface Forward {
  readonly to: Address
  readonly operation: string
  readonly argument?: unknown
  readonly timeoutMs?: number
}

async function outcome(work: Promise<unknown>): Promise<unknown> {
  try {
    return await work
  } catch (error) {
    if (error instanceof RequestFailedError)
      return {
        failed: error.reason,
        undelivered: error.undelivered,
        to: error.to,
        ...(error.primaryHint === null ? {} : { primaryHint: error.primaryHint }),
      }
    if (error instanceof StepFailedError) return { failedStep: error.step }
    throw error
  }
}

/**
 * The awaits that resumed, of all actors of this thread. Not in an actor: the next incarnation
 * could not read it.
 */
const resumed: string[] = []

const forwarder: ActorFactory<never> = (context: ActorContext) => {
  const ask = ({ to, operation, argument, timeoutMs }: Forward, signal?: AbortSignal) =>
    context
      .request(to, 'node.command', toyRequest(operation, argument), {
        ...(timeoutMs === undefined ? {} : { timeoutMs }),
        ...(signal === undefined ? {} : { signal }),
      })
      .then(toyAnswer)
  return toyActor({
    forward: (forward: Forward) => outcome(ask(forward)),
    resolve: (names: readonly string[]) => names.map((name) => context.resolve(name)),
    cancelAfter: async ({ delayMs, forward }: { delayMs: number; forward: Forward }) => {
      const controller = new AbortController()
      const answer = outcome(ask(forward, controller.signal))
      await context.sleep(delayMs)
      controller.abort()
      return answer
    },
    notices: async ({ to, count }: { to: Address; count: number }) => {
      for (let value = 0; value < count; value++) {
        context.send(to, 'node.command', toyRequest('collect', value))
        if (value % 7 === 6) await context.sleep(1)
      }
      return 'sent'
    },
    notice: ({ to, operation, argument }: Forward) => context.send(to, 'node.command', toyRequest(operation, argument)),
    burst: ({ to, count }: { to: Address; count: number }) => {
      for (let value = 0; value < count; value++) context.send(to, 'node.command', toyRequest('collect', value))
      return ask({ to, operation: 'collected' })
    },
    scatter: async (to: readonly Address[]) => {
      to.forEach((address, value) => context.send(address, 'node.command', toyRequest('collect', value)))
      await context.sleep(100)
      return context.all(
        [...new Set(to)].map((address) => outcome(ask({ to: address, operation: 'collected', timeoutMs: 1000 }))),
      )
    },
    fan: ({ to, operation }: { to: readonly Address[]; operation: string }) =>
      context.all(to.map((address) => outcome(ask({ to: address, operation })))),
    cancelTooLate: async (forward: Forward) => {
      const controller = new AbortController()
      const answer = await outcome(ask(forward, controller.signal))
      controller.abort()
      return answer
    },
    resume: async (forward: Forward) => {
      await outcome(ask(forward))
      resumed.push(`${context.address} after its request`)
    },
    step: async (step: string) => {
      const result = await outcome(context.reach(step).then(() => 'passed'))
      resumed.push(`${context.address} after ${step}`)
      return result
    },
    emitRouted: () => {
      if (!context.wants('routed')) return 'unwanted'
      context.emit({
        type: 'routed',
        shardKey: null,
        atMs: context.now(),
        mongos: context.address,
        opId: 1,
        connectionId: 1,
        ns: 'a.b',
        command: 'find',
        kind: 'targeted',
        shards: [],
        chunks: 1,
        bounds: [],
        durationMs: 0,
      })
      return 'emitted'
    },
    log: () => context.log('info', 'a line', { a: 1 }),
    resumed: () => resumed,
  })
}

const collector: ActorFactory<never> = () => {
  const values: unknown[] = []
  let packets = 0
  // The messages of one packet arrive in one turn.
  let isWithinPacket = false
  const actor = toyActor({
    collect: (value: unknown) => values.push(value),
    collected: () => ({ values, packets }),
  })
  return {
    receive: (kind, request, from) => {
      const { db } = request as RequestOf<'node.command'>
      if (db === 'collect' && !isWithinPacket) {
        packets++
        isWithinPacket = true
        queueMicrotask(() => (isWithinPacket = false))
      }
      return actor.receive(kind, request, from)
    },
  }
}

interface Rearming {
  readonly first: Readonly<Record<string, number>>
  readonly cleared: string
  readonly second: Readonly<Record<string, number>>
}

const sleeper: ActorFactory<never> = (context) => {
  const woken: { name: string; lateMs: number }[] = []
  const due = new Map<string, number>()
  const arm = (name: string, delayMs: number) => {
    due.set(name, context.now() + delayMs)
    context.setTimer(name, delayMs)
  }
  return toyActor(
    {
      arm: (timers: Readonly<Record<string, number>>) =>
        Object.entries(timers).forEach(([name, delayMs]) => arm(name, delayMs)),
      clear: (name: string) => context.clearTimer(name),
      /** Arms, clears, arms again and clears again in one turn, in which no timer can fire. */
      rearm: ({ first, cleared, second }: Rearming) => {
        for (const timers of [first, second]) {
          for (const [name, delayMs] of Object.entries(timers)) arm(name, delayMs)
          context.clearTimer(cleared)
        }
      },
      woken: () => woken,
    },
    {
      wake: (name) => {
        if (name === 'explode') throw new Error('woken on purpose')
        woken.push({ name, lateMs: context.now() - due.get(name)! })
      },
      start: () => arm('early', 0),
    },
  )
}

const slowStarter: ActorFactory<never> = (
  context,
  { ask, delayMs, fail }: { ask: Address | null; delayMs: number; fail?: boolean },
) => {
  let found: unknown = null
  return toyActor(
    { found: () => found },
    {
      async start() {
        await context.sleep(delayMs)
        if (fail === true) throw new Error('cannot start')
        if (ask !== null) found = toyAnswer(await context.request(ask, 'node.command', toyRequest('echo', 'hello')))
      },
    },
  )
}

/** Input for the trace hash: draws, sleeps and sends at random. */
const gossip: ActorFactory<never> = (context, { peers }: { peers: readonly Address[] }) => {
  let heard = 0
  const talk = () => context.setTimer('talk', 1 + context.random.below(20))
  return toyActor(
    { hear: (hops: number) => (heard += hops), heard: () => heard },
    {
      start: talk,
      async wake() {
        const to = peers[context.random.below(peers.length)]!
        await context.sleep(context.random.below(5))
        await context
          .request(to, 'node.command', toyRequest('hear', context.random.below(100)), { timeoutMs: 3 })
          .catch(() => {})
        talk()
      },
    },
  )
}

/** Answers with a value that no message can hold. */
const careless: ActorFactory<never> = () => ({
  receive: <K extends MessageKind>() => ({ ...nodeExample.reply, body: new Date(0) }) as unknown as ReplyOf<K>,
})

export const toyRoles = {
  careless,
  echo,
  counter,
  forwarder,
  collector,
  sleeper,
  slowStarter,
  gossip,
} as unknown as Readonly<Record<string, ActorFactory<never>>>

/** For worker entries and machines. */
export const toyLoaders: RoleLoaders = Object.fromEntries(
  Object.entries(toyRoles).map(([name, factory]) => [name, () => Promise.resolve(factory)]),
)
