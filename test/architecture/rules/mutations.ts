import type { Finding, Repository } from '../model/repository.js'

const listed = 'packages/actor/src/faults/mutations.ts'
const asking = /\bmutated\(\s*'(\w+)'\s*\)/g

/** Each listed mutation is checked in exactly one place, and no other mutation is checked. */
export function findMisplacedMutations(repository: Repository, mutationNames: readonly string[]): Finding[] {
  const places = new Map<string, Finding[]>()
  for (const { sources } of repository.packages) {
    for (const { path, text } of sources) {
      for (const match of text.matchAll(asking)) {
        const name = match[1]!
        const line = text.slice(0, match.index).split('\n').length
        places.set(name, [...(places.get(name) ?? []), { path, line, message: name }])
      }
    }
  }
  const findings: Finding[] = []
  for (const [name, found] of places) {
    if (!mutationNames.includes(name))
      findings.push({ ...found[0]!, message: `the mutation ${name} is not in ${listed}` })
    for (const place of found.slice(1))
      findings.push({ ...place, message: `the mutation ${name} is already checked in ${found[0]!.path}` })
  }
  for (const name of mutationNames)
    if (!places.has(name)) findings.push({ path: listed, line: 0, message: `no code checks the mutation ${name}` })
  return findings
}
