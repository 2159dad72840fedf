import type { Address, FaultSwitch } from '@shardlab/actor'
import type { LinkEffect, MemberEffect, Runtime } from '@shardlab/runtime'
import type { FaultSpec } from './fault-data.js'
import type { FaultLink, FaultWorld, RunningFault } from './fault-world.js'
import type { LinkFilters } from './shapes.js'

/** For a member that is down now: healing starts it. */
export function downUntilHealed(world: FaultWorld, member: Address): RunningFault {
  return { heal: () => startIfDown(world, member), strikes: () => null, down: new Set([member]) }
}

async function startIfDown({ runtime, restart, isKeptDown }: FaultWorld, member: Address): Promise<void> {
  if (isKeptDown(member)) return
  const state = runtime.members().find(({ address }) => address === member)?.state
  if (state === 'crashed' || state === 'stopped') await restart(member)
}

export async function affectMember({ faults }: Runtime, address: Address, effect: MemberEffect): Promise<RunningFault> {
  const id = await faults.apply({ scope: 'member', address, effect })
  return { heal: () => faults.heal(id), strikes: () => null }
}

/** @param bothWays false: messages from `from` to `to` alone */
export async function affectLinks(
  { faults }: Runtime,
  { from, to }: FaultLink,
  bothWays: boolean,
  effect: LinkEffect,
  { kinds, first, probability, seed }: Partial<LinkFilters> = {},
): Promise<RunningFault> {
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

/**
 * @param members null: every member that reaches the step
 * @param first how many members are struck; undefined: all
 */
export async function affectStep(
  world: FaultWorld,
  step: string,
  action: 'hold' | 'fail' | 'crash',
  members: readonly Address[] | null,
  first?: number,
): Promise<RunningFault> {
  const { steps } = world.runtime
  const down = new Set<Address>()
  const id = await steps.arm(step, action, {
    ...(members === null ? {} : { addresses: members }),
    ...(first === undefined ? {} : { times: first }),
    onStruck(reached) {
      if (action === 'crash') down.add(reached.address)
      world.struck(reached)
    },
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

/**
 * The switch is on in the memory of the member while any fault of this verb is at work there. A new
 * process has it off.
 * @param valueOf the value for several faults at work, at least one
 */
export async function switchOn<Spec extends FaultSpec>(
  { runtime, atWork }: FaultWorld,
  member: Address,
  spec: Spec,
  name: FaultSwitch,
  valueOf: (faults: readonly Spec[]) => true | number = () => true,
): Promise<RunningFault> {
  const turn = (value: true | number | null) => runtime.background.request(member, 'faults.switch', { name, value })
  const others = () => atWork(member, spec.verb) as readonly Spec[]
  await turn(valueOf([...others(), spec]))
  return {
    async heal() {
      if (runtime.member(member)?.state !== 'running') return
      await turn(others().length === 0 ? null : valueOf(others()))
    },
    strikes: () => null,
  }
}

export function allOf(faults: readonly RunningFault[]): RunningFault {
  return {
    async heal() {
      for (const fault of faults) await fault.heal()
    },
    strikes: () => null,
  }
}
