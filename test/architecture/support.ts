import type { Finding } from './model/repository.js'

interface Assertions {
  pass(message: string): unknown
  fail(message: string, extra: object): unknown
}

/** Fails once for each finding, with `path:line message`. */
export function expectNoFindings(t: Assertions, findings: readonly Finding[], rule: string): void {
  if (findings.length === 0) t.pass(rule)
  for (const { path, line, message } of findings)
    t.fail(`${path}${line > 0 ? `:${line}` : ''} ${message}`, { at: null, stack: null })
}

/** The messages alone, for canaries. */
export const messagesOf = (findings: readonly Finding[]): string[] => findings.map((finding) => finding.message)
