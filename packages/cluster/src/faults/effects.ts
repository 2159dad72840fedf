/** What each verb does to the runtime, and how it is undone. */
import type { Address } from '@shardlab/actor'
import type { LinkEffect, LinkEnd, MemberEffect, Runtime } from '@shardlab/runtime'
import type { FaultSpec, FaultVerb } from './schema.js'

/** A fault whose names have been found. */
export interface ResolvedFault {
  readonly spec: FaultSpec
  /** null: the fault is not one of a single member. */
  readonly target: Address | null
  readonly link: { readonly from: LinkEnd; readonly to: LinkEnd } | null
}

/** What a fault needs of its cluster. */
export interface FaultWorld {
  readonly runtime: Runtime
  /** After how long silence on a link is noticed. */
  readonly networkTimeoutMs: number
  /** Starts a member that is down; who must know where it listens now is told. */
  readonly restart: (member: Address) => Promise<unknown>
  /** Heals the pauses of that member. */
  resume(member: Address): Promise<void>
  /** Is a fault of this verb at work on that member? The one that begins or is healed does not count. */
  readonly isAtWork: (member: Address, verb: FaultVerb) => boolean
  /** Is a fault at work that keeps that member down? The one that is healed does not count. */
  readonly isKeptDown: (member: Address) => boolean
}

/** These keep a member down. */
export const downVerbs: readonly FaultVerb[] = ['crash', 'destroy', 'stop']
/** These are of a process, and over when it ends. */
export const processVerbs: readonly FaultVerb[] = ['pause', 'stepDown', 'freezeRoutes']

/** A fault at work. */
export interface RunningFault {
  heal(): Promise<void>
  /** How often it struck; null: it is not counted. */
  strikes(): number | null
  /** Whom it has brought down, and nobody has started since. Absent: nobody. */
  readonly down?: Set<Address>
}

/** Lets a fault begin. Null: it is over with that. */
export async function begin(world: FaultWorld, { spec, target, link }: ResolvedFault): Promise<RunningFault | null> {
  const { runtime } = world
  const member = target ?? ''
  const startsAgain = { heal: () => startIfDown(world, member), strikes: () => null, down: new Set([member]) }
  switch (spec.verb) {
    case 'crash':
      await runtime.crash(member)
      return startsAgain
    case 'destroy':
      await runtime.crash(member)
      await runtime.replaceDisk(member)
      return startsAgain
    case 'stop':
      await runtime.background.halt(member)
      return startsAgain
    case 'restart':
      await runtime.crash(member)
      await world.restart(member)
      return null
    case 'resume':
      await world.resume(member)
      return null
    case 'pause':
      return all([
        await onMember(runtime, member, { type: 'freeze' }),
        await onLinks(
          runtime,
          { from: [member], to: 'everybody' },
          true,
          { type: 'partition', silenceMs: world.networkTimeoutMs },
          spec,
        ),
      ])
    case 'stepDown':
      return switched(world, member, 'stepDown', 'stepped-down')
    case 'freezeRoutes':
      return switched(world, member, 'freezeRoutes', 'frozen-routes')
    case 'slow': {
      const perMessageMs = spec.factor - 1
      return onLinks(runtime, { from: 'everybody', to: [member] }, false, { type: 'slow', perMessageMs }, spec)
    }
    case 'slowDisk':
      return onMember(runtime, member, { type: 'slow-disk', perAppendMs: spec.by })
    case 'fullDisk':
      return onMember(runtime, member, { type: 'full-disk' })
    case 'skewClock':
      return onMember(runtime, member, { type: 'clock-skew', skewMs: spec.by })
    case 'jumpClock':
      return onMember(runtime, member, { type: 'clock-jump', jumpMs: spec.by })
    case 'partition':
      return onLinks(runtime, link!, spec.link.bothWays, { type: 'partition', silenceMs: world.networkTimeoutMs }, spec)
    case 'delay':
      return onLinks(
        runtime,
        link!,
        spec.link.bothWays,
        { type: 'delay', minMs: spec.by, maxMs: spec.upTo ?? spec.by },
        spec,
      )
    case 'limit':
      return onLinks(runtime, link!, spec.link.bothWays, { type: 'limit', bytesPerSecond: spec.to }, spec)
    case 'drop':
    case 'duplicate':
      return onLinks(runtime, link!, spec.link.bothWays, { type: spec.verb }, spec)
    case 'refuse':
    case 'cut':
      return onLinks(runtime, link!, false, { type: spec.verb }, spec)
    case 'stallRangeDeleter':
      return atStep(world, 'shard.range-deleter.started', 'hold', target)
    case 'hold':
    case 'fail':
      return atStep(world, spec.step, spec.verb, target, spec.first)
    case 'crashAt':
      return atStep(world, spec.step, 'crash', target, spec.first)
  }
}

async function startIfDown({ runtime, restart, isKeptDown }: FaultWorld, member: Address): Promise<void> {
  if (isKeptDown(member)) return
  const state = runtime.members().find(({ address }) => address === member)?.state
  if (state === 'crashed' || state === 'stopped') await restart(member)
}

async function onMember({ faults }: Runtime, address: Address, effect: MemberEffect): Promise<RunningFault> {
  const id = await faults.apply({ scope: 'member', address, effect })
  return { heal: () => faults.heal(id), strikes: () => null }
}

async function onLinks(
  { faults }: Runtime,
  { from, to }: { readonly from: LinkEnd; readonly to: LinkEnd },
  bothWays: boolean,
  effect: LinkEffect,
  spec: FaultSpec,
): Promise<RunningFault> {
  const { kinds, first, probability, seed } =
    'link' in spec ? spec : ({} as { kinds?: string[]; first?: number; probability?: number; seed?: number })
  const id = await faults.apply({
    scope: 'link',
    effect,
    from,
    to,
    bothWays,
    kinds: kinds ?? null,
    times: first ?? null,
    probability: probability ?? 1,
    seed: seed ?? null,
  })
  return { heal: () => faults.heal(id), strikes: () => (first === undefined ? null : faults.strikes(id)) }
}

async function atStep(
  world: FaultWorld,
  step: string,
  action: 'hold' | 'fail' | 'crash',
  target: Address | null,
  first?: number,
): Promise<RunningFault> {
  const { steps } = world.runtime
  const down = new Set<Address>()
  const id = await steps.arm(step, action, {
    ...(target === null ? {} : { address: target }),
    ...(first === undefined ? {} : { times: first }),
    ...(action === 'crash' ? { onStruck: (victim) => void down.add(victim) } : {}),
  })
  return {
    async heal() {
      await steps.heal(id)
      for (const victim of down) await startIfDown(world, victim)
    },
    strikes: () => steps.strikes(id),
    down,
  }
}

/** A switch is in the memory of the member: on while a fault of that verb is at work, off in a process that is started anew. */
async function switched(
  { runtime, isAtWork }: FaultWorld,
  member: Address,
  verb: FaultVerb,
  name: 'stepped-down' | 'frozen-routes',
): Promise<RunningFault> {
  const turn = (on: boolean) => runtime.background.request(member, 'faults.switch', { name, on })
  if (!isAtWork(member, verb)) await turn(true)
  return {
    async heal() {
      if (!isAtWork(member, verb) && runtime.member(member)?.state === 'running') await turn(false)
    },
    strikes: () => null,
  }
}

function all(faults: readonly RunningFault[]): RunningFault {
  return {
    async heal() {
      for (const fault of faults) await fault.heal()
    },
    strikes: () => null,
  }
}
