/** Addresses of members for clients of other networks. Server: split_horizon.cpp, _validate. */
import type { MemberConfig } from './replica-set-config.js'

const address = /^(?:\d{1,3}(?:\.\d{1,3}){3}|\[.*\]):\d+$/

/** @returns why the horizons are invalid, in the server's words; null: valid */
export function horizonFault(members: readonly MemberConfig[]): string | null {
  for (const [i, { horizons }] of members.entries()) {
    for (const [name, host] of horizons) {
      if (!address.test(host)) continue
      return (
        'Found split horizon configuration using IP address, which is disallowed: ' +
        `members.${i}.horizons contains entry {"${name}": "${host}"}`
      )
    }
  }
  return missingHorizons(members) ?? repeatedHosts(members)
}

function missingHorizons(members: readonly MemberConfig[]): string | null {
  const names = (member: MemberConfig) => member.horizons.map(([name]) => name)
  const expected = names(members[0]!)
  const partial = new Set<string>()
  for (const member of members) {
    const own = names(member)
    for (const name of expected) if (!own.includes(name)) partial.add(name)
    for (const name of own) if (!expected.includes(name)) partial.add(name)
  }
  if (partial.size === 0) return null
  const list = [...partial].map((name) => ` ${name}`).join(',')
  return (
    'Saw a replica set member with a different horizon mapping than the others.  ' +
    `The following horizons were not universally present:${list}`
  )
}

function repeatedHosts(members: readonly MemberConfig[]): string | null {
  const counts = new Map<string, number>()
  for (const { host, horizons } of members) {
    for (const other of [host, ...horizons.map(([, horizon]) => horizon)]) {
      counts.set(other, (counts.get(other) ?? 0) + 1)
    }
  }
  const repeated = [...counts].filter(([, count]) => count > 1)
  if (repeated.length === 0) return null
  const list = repeated.map(([host]) => ` ${host}`).join(',')
  return `The following hostnames are not unique across all horizons and host specifications in the replica set:${list}`
}
