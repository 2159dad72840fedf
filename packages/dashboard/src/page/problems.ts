import type { LiveMember } from '../stream/deltas.js'
import type { LiveState } from '../stream/live-state.js'
import { timeText } from './text.js'

/** Faults that a sentence about a member already tells. */
const toldByMember: ReadonlySet<string> = new Set(['crash', 'stop', 'destroy'])

const isDown = ({ state }: LiveMember): boolean => state === 'crashed' || state === 'stopped'

/** What is broken, as sentences. */
export function problemsOf({ isReady, members, faults, catalog }: LiveState): string[] {
  if (!isReady) return []
  const all = [...members.values()]
  const down = all.filter(isDown)
  const isDestroyed = (address: string): boolean =>
    faults.some(({ verb, state, members: hit }) => verb === 'destroy' && state === 'active' && hit.includes(address))
  const headless = headlessSetsOf(all)
  const configServers = all.filter(({ role }) => role === 'config-server')
  // The members of the config server already tell why.
  const isCatalogLost =
    configServers.length > 0 && (configServers.every(isDown) || headless.includes(configServers[0]!.set))
  return [
    ...down.map(({ address, state }) =>
      isDestroyed(address) ? `${address} has crashed, and its disk is lost.` : `${address} has ${state}.`,
    ),
    ...headless.map((set) => `The set ${set} has no primary.`),
    ...faults
      .filter(({ state, verb }) => (state === 'active' || state === 'exhausted') && !toldByMember.has(verb))
      .map(({ fault }) => `Fault: ${fault}.`),
    ...(catalog.error === null || isCatalogLost ? [] : [`The catalog cannot be read: ${catalog.error}.`]),
  ]
}

/** Sets of several members, of which some run, that have no primary. */
function headlessSetsOf(members: readonly LiveMember[]): string[] {
  const sets = new Map<string, string[]>()
  for (const { address, set, setState, state } of members)
    if (address !== set) sets.set(set, [...(sets.get(set) ?? []), state === 'running' ? (setState ?? '') : ''])
  return [...sets]
    .filter(([, states]) => !states.includes('PRIMARY') && !states.every((each) => each === ''))
    .map(([set]) => set)
}

/** What faults have destroyed for good, as sentences: after a heal, nothing is broken. */
export function lossesOf({ members, events }: LiveState): string[] {
  const destroyed = new Set<string>()
  const losses = new Map<string, string>()
  for (const event of events) {
    if (event.type === 'fault-applied' && event.fault.startsWith('destroy '))
      for (const address of event.members) destroyed.add(address)
    else if (event.type === 'member' && event.state === 'started' && destroyed.delete(event.member)) {
      const member = members.get(event.member)
      // Other members of its set have its data.
      if (member !== undefined && member.set === member.address && member.role !== 'mongos')
        losses.set(
          member.address,
          `${member.address} started at ${timeText(event.atMs)} with an empty disk: its data are gone.`,
        )
    }
  }
  return [...losses.values()]
}
