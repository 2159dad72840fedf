import type { Finding, Repository } from '../model/repository.js'

const listed = 'packages/actor/src/faults/named-steps.ts'

/**
 * The step name in a call of `reach` or `reachIgnoringFault`, or of a method whose name ends so; or
 * the two names of a conditional.
 */
const reaching =
  /[rR]each(?:IgnoringFault)?\(\s*[^()']*?'([a-z-]+(?:\.[a-z-]+)+)'(?:\s*:\s*'([a-z-]+(?:\.[a-z-]+)+)')?/g

/**
 * The list of named steps has exactly the steps that members pass: faults at other steps are
 * refused.
 */
export function findUnlistedSteps(repository: Repository, namedSteps: readonly string[]): Finding[] {
  const passed = new Set<string>()
  const findings: Finding[] = []
  for (const { sources } of repository.packages) {
    for (const { path, text } of sources) {
      for (const match of text.matchAll(reaching)) {
        for (const step of match.slice(1).filter((name) => name !== undefined)) {
          passed.add(step)
          const line = text.slice(0, match.index).split('\n').length
          if (!namedSteps.includes(step)) findings.push({ path, line, message: `the step ${step} is not in ${listed}` })
        }
      }
    }
  }
  for (const step of namedSteps) {
    if (!passed.has(step)) findings.push({ path: listed, line: 0, message: `no member passes the step ${step}` })
  }
  if (namedSteps.some((step, i) => i > 0 && step <= namedSteps[i - 1]!))
    findings.push({ path: listed, line: 0, message: 'the steps are not in alphabetical order' })
  return findings
}
