import type { LiveState } from '../stream/live-state.js'

/** What is broken, as sentences. */
export function problemsOf({ isReady, members, faults, catalog }: LiveState): string[] {
  if (!isReady) return []
  const down = [...members.values()].filter(({ state }) => state === 'crashed' || state === 'stopped')
  const sets = new Map<string, string[]>()
  for (const { address, set, setState, state } of members.values())
    if (address !== set) sets.set(set, [...(sets.get(set) ?? []), state === 'running' ? (setState ?? '') : ''])
  const headless = [...sets].filter(([, states]) => !states.includes('PRIMARY') && !states.every((each) => each === ''))
  return [
    ...down.map(({ address, state }) => `${address} has ${state}.`),
    ...headless.map(([set]) => `The set ${set} has no primary.`),
    ...faults
      .filter(({ state, verb }) => (state === 'active' || state === 'exhausted') && verb !== 'crash' && verb !== 'stop')
      .map(({ fault }) => `Fault: ${fault}.`),
    ...(catalog.error === null ? [] : [`The catalog cannot be read: ${catalog.error}.`]),
  ]
}
